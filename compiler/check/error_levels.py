"""Severity and state of the errors that a batch is refused with.

Most are of syntax, severity 15. It is what SQL Server raises them with: sys.messages has 15 for 104, 1012,
1013, 4194, 8155, 8158 and 8159, and 16 for 130, 319, 4112 and 4113.
"""

from __future__ import annotations

__all__ = ["level_of"]

_OF_SEVERITY_16 = frozenset(
    map(
        int,
        """
        108 116 187 201 205 206 207 208 209 213 214 243 257 263 264 271 272 273 302 305 313 318 402 408 421
        443 444 448 455 483 493 494 529 1011 1012 1013 1026 1039 1062 1754 1766 1909 1911 1913 1919 2705 2715
        2738 2739 2744 2747 2748 2749 2750 2751 2760 2786 3901 3914 4104 4127 4135 4142 4151 4194 4506 4508
        4511 4514 4927 4936 5062 5313 5335 6800 6801 6802 6809 6810 6819 6820 6829 6846 6849 6850 6852 6864
        8102 8110 8111 8112 8113 8116 8117 8120 8121 8127 8133 8137 8139 8143 8144 8145 8146 8147 8148 8150
        8151 8155 8156 8158 8159 8162 8172 8178 8402 8447 8450 9500 9810 10700 10760 10761 33302
        """.split(),
    )
)
_STATES = {
    137: 2,
    302: 0,
    153: 2,
    1766: 0,
    4113: 4,
    8110: 0,
    8151: 0,
    195: 10,
    201: 4,
    206: 2,
    257: 3,
    529: 2,
    1087: 2,
    8143: 2,
    8144: 2,
    8145: 2,
    8146: 2,
    8162: 2,
}


def level_of(number: int) -> tuple[int, int]:
    """Severity and state of the error ``number``."""
    return 16 if number in _OF_SEVERITY_16 or number > 13000 else 15, _STATES.get(number, 1)
