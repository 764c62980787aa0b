//! The real words of the simulated mail, by theme and part of speech.
//!
//! Nouns are singular and verbs are in their base form, so that each fits wherever
//! the sentences of a letter leave room for one. Within a list the first words are
//! the most frequent.

/// What a word may be used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartOfSpeech {
    Noun,
    Verb,
    Adjective,
}

/// Words about one subject.
pub(super) struct Theme {
    pub(super) name: &'static str,
    nouns: &'static str,
    verbs: &'static str,
    adjectives: &'static str,
}

impl Theme {
    /// The words with their parts of speech, more frequent ones first: the lists are
    /// merged in proportion to their lengths.
    pub(super) fn words(&self) -> Vec<(&'static str, PartOfSpeech)> {
        let lists = [
            (self.nouns, PartOfSpeech::Noun),
            (self.verbs, PartOfSpeech::Verb),
            (self.adjectives, PartOfSpeech::Adjective),
        ];
        let mut words: Vec<(f64, &str, PartOfSpeech)> = Vec::new();
        for (list, part) in lists {
            let length = list.split_whitespace().count() as f64;
            for (place, word) in list.split_whitespace().enumerate() {
                words.push(((place as f64 + 0.5) / length, word, part));
            }
        }
        words.sort_by(|a, b| a.0.total_cmp(&b.0));
        words
            .into_iter()
            .map(|(_, word, part)| (word, part))
            .collect()
    }
}

/// One theme per class, in the order of the classes.
pub(super) const THEMES: [Theme; 6] = [
    Theme {
        name: "billing",
        nouns: "invoice payment charge bill card amount statement subscription fee price tax receipt \
                plan balance total currency discount surcharge bank debit renewal month cent euro \
                accountant ledger quote tariff instalment deposit penny arithmetic",
        verbs: "pay renew overcharge deduct subscribe prorate upgrade downgrade calculate tally itemise \
                afford",
        adjectives: "unpaid overdue monthly annual expensive incorrect double hidden recurring taxable",
    },
    Theme {
        name: "login",
        nouns: "password account login username code email authentication session access profile security \
                token device phone captcha lockout permission identity verification passphrase cookie \
                credential fingerprint administrator recovery keyboard capslock pin vowel hamster",
        verbs: "reset unlock verify authenticate recover remember register retype confirm guess hack \
                forget",
        adjectives: "locked expired forgotten secure invalid temporary biometric suspicious uppercase \
                     anonymous",
    },
    Theme {
        name: "shipping",
        nouns: "delivery package parcel tracking courier address shipment warehouse order carrier driver \
                doorstep postcode depot label customs van doorbell neighbour porch box tape signature \
                route foam pallet mailbox street garage hedge drone goat",
        verbs: "deliver ship track dispatch collect redirect arrive pack unload misplace forward leave",
        adjectives: "late undelivered lost fragile damaged heavy soggy enormous estimated international",
    },
    Theme {
        name: "refund",
        nouns: "refund return money exchange warranty voucher credit cancellation guarantee policy purchase \
                replacement complaint item reimbursement deadline claim compensation form dispute proof \
                restocking wallet regret size colour trousers packaging store gift",
        verbs: "cancel reimburse replace demand keep compensate swap withdraw reconsider object unwrap \
                deserve",
        adjectives: "unused unwanted partial eligible full faulty unopened itchy refundable disappointed",
    },
    Theme {
        name: "bug",
        nouns: "error app screen crash button update version browser bug page server feature menu log \
                message installation freeze setting window file cursor glitch patch traceback icon \
                printer scrollbar pixel robot database timeout semicolon",
        verbs: "load install restart click reproduce reboot scroll hang uninstall flicker debug beep",
        adjectives: "broken blank slow unresponsive frozen latest corrupt sideways infinite purple",
    },
    Theme {
        name: "praise",
        nouns: "service staff support kindness smile job experience help hero quality compliment \
                patience delight applause gratitude recommendation star joy champion friend craft magic \
                cake grandmother ovation bouquet sunshine hug poem medal",
        verbs: "recommend appreciate love enjoy admire celebrate praise applaud adore impress dance sing",
        adjectives: "excellent wonderful friendly fantastic quick helpful brilliant delightful flawless \
                     heartwarming",
    },
];

/// Words that mail of every class uses.
pub(super) const EVERYDAY: Theme = Theme {
    name: "everyday",
    nouns: "time website customer day problem question company week issue product answer number reply \
            thing way date information name call hour minute office morning person reason friday request \
            contact detail line business weekend situation process night solution internet list department \
            letter colleague family moment chat hand word case rule house step idea coffee option change \
            conversation ticket manager holiday part kitchen boss plant sandwich winter staircase cat dog \
            umbrella committee spoon",
    verbs: "use get send need work try see check find reach explain receive wait fix start open read \
            write look show ask understand stop follow happen move notice hope fill decide believe whisper",
    adjectives: "new different old wrong important simple free strange clear urgent short fine empty small \
                 polite recent quiet odd busy green confusing sudden curious ordinary official serious shiny \
                 familiar long yellow",
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_word_is_written_once_in_plain_letters() {
        let mut seen = HashSet::new();
        for theme in THEMES.iter().chain([&EVERYDAY]) {
            for (word, _) in theme.words() {
                assert!(seen.insert(word), "{word} twice, again in {}", theme.name);
                assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
            }
        }
        assert!(seen.len() > 350, "{}", seen.len());
    }

    #[test]
    fn themes_mix_their_parts_of_speech() {
        let words = THEMES[0].words();
        assert_eq!(words[0], ("invoice", PartOfSpeech::Noun));
        assert!(words[..12].iter().any(|word| word.1 == PartOfSpeech::Verb));
        assert!(
            words[..12]
                .iter()
                .any(|word| word.1 == PartOfSpeech::Adjective)
        );
    }
}
