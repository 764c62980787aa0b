"""Classify and rank text with probabilities that can be trusted."""

from calibrant._calibrant import Model

__all__ = ["Model"]
