"""Names of closed sets, which every front end shares."""

import calibrant
import pytest


def test_closed_sets_name_themselves():
    assert dict(calibrant.names("calibrator"))["platt"]
    assert "svm" in dict(calibrant.names("classifier"))
    with pytest.raises(calibrant.CalibrantError, match="no set"):
        calibrant.names("colours")
