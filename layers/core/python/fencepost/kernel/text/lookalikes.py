"""Letters that look like Latin ones, for comparing only.

Source: a subset of Unicode UTS #39 `confusables.txt`: the Latin, Greek, Cyrillic, Armenian, Coptic and Cherokee letters
that NFKC leaves alone, and sigma, which NFKC makes of the lunate `ϲ`. Two deliberate departures. Both cases of a
Cyrillic letter go to one Latin letter even where only the capital looks like it (н, в, т, к, м), so that Russian stays
consistent with itself. And what looks like `l` counts as `i`, because no table can tell `Ι`, `I` and `l` apart; the
standard's skeleton merges them, too.
"""

from __future__ import annotations

_LOOKALIKES = {
    "a": "ɑΑαАаᎪᴀ",
    "b": "ƄʙΒВЬвьᏏᏴꞴ",
    "c": "ςΣСсᏟᴄⲤⲥꮯ",
    "d": "ԀԁᎠᏧᴅ",
    "e": "ΕεЄЕеєҼҽᎬᴇꬲ",
    "f": "ϜքẝꜰꞘꞙꬵ",
    "g": "ƍɡɢԌԍցᏀᏳᶃ",
    "h": "ʜΗНнҺһհᎻᏂⲎ",
    "i": "ıƖǀɩɪʟΙιІіӀӏᎥᏞⲒⳐꙆꙇꭵ",
    "j": "ͿϳЈјᎫᴊꞲ",
    "k": "ΚκКкᏦᴋⲔ",
    "m": "ΜϺМмᎷᴍⲘ",
    "n": "ɴΝηոռⲚ",
    "o": "ΟοσОоՕօᴏᴑⲞⲟꬽ",
    "p": "ΡρРрᏢᴘⲢⲣ",
    "q": "Ԛԛգզ",
    "r": "ƦʀГгᎡᏒᴦⲅꭇꭈꮁ",
    "s": "ƽЅѕՏᏕᏚꜱꮪ",
    "t": "ΤτТтᎢᴛⲦ",
    "u": "ʋυՍսᴜꞟꭎꭒ",
    "v": "νѴѵᏙᴠꮩ",
    "w": "ɯωѠѡԜԝաᎳᏔᴡꮃ",
    "x": "ΧχХхⲬꞳ",
    "y": "ɣʏΥγУуҮүᎩᎽᶌỿⲨꭚ",
    "z": "ΖᏃᴢꮓ",
}

LATIN_SKELETON = {ord(look): latin for latin, looks in _LOOKALIKES.items() for look in looks}
"""A table for `str.translate`: each look-alike to the small Latin letter it stands for. `fold` sees to `l`."""
