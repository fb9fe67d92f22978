"""Recognise providers' keys by the prefix that they begin with.

A row of `PREFIXES` makes the pattern of whole keys, of keys that are cut off, and the quick test whether a text may
have one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ANY = r"[0-9A-Za-z_\-]"
"""Sign of most keys."""

_BASE62, _BASE64, _HEX, _CAPITAL = r"[0-9A-Za-z]", r"[0-9A-Za-z+/=]", "[0-9a-f]", "[0-9A-Z]"
_NO_DASH, _NO_UNDERSCORE = r"[0-9A-Za-z_]", r"[0-9A-Za-z\-]"


def begins(anchor: str) -> str:
    """Return a pattern of `anchor`, of fixed width, where a word begins.

    A word may follow a letter that ends an escape: of JSON (`\\n`, `\\u200b`), of a URL (`%20`), of a terminal (`[1m`).
    Letters beyond ASCII do not count: languages without spaces write keys right after them.
    """
    before = (r"\\[nrtbf]", r"\\u[0-9a-fA-F]{4}", r"%[0-9a-fA-F]{2}", r"[0-9;]m")
    escapes = "".join(rf"|(?<={escape}{anchor})" for escape in before)
    return rf"{anchor}(?:(?<![0-9A-Za-z]{anchor}){escapes})"


def tells(signs: str) -> str:
    """Return a lookahead for what ordinary words do not have.

    That is a digit, or capitals and small letters that change in a way in which CamelCase does not, twice.
    """
    return rf"(?={signs}{{0,60}}[0-9]|(?:{signs}{{0,30}}?(?:[A-Z][a-z][A-Z]|[a-z][A-Z]{{2}})){{2}})"


@dataclass(frozen=True, slots=True)
class Prefix:
    """Beginning of a provider's keys, as a pattern of fixed width.

    Its last sign is "_" or "-". `literal` is a text that each key has, where `pattern` is none. `least` signs of
    `signs` follow in a whole key; of one that is cut off, `telling` signs tell too much. Words may follow the prefix,
    unless `is_unlike`: a key has what words do not have.
    """

    pattern: str
    signs: str
    least: int
    telling: int = 6
    is_unlike: bool = False
    literal: str = ""

    @property
    def anchor(self) -> str:
        """Return a literal that each key contains."""
        return self.literal or self.pattern

    @property
    def whole(self) -> str:
        """Return the pattern of a key."""
        return rf"{begins(self.pattern)}{self._tells}{self.signs}{{{self.least},}}"

    @property
    def open(self) -> str:
        """Return the pattern of what may be the beginning of a key."""
        return rf"{begins(self.pattern)}{self.signs}{{0,{self._most}}}"

    @property
    def cut(self) -> str:
        """Return the pattern of the beginning of a key that tells too much."""
        return rf"{begins(self.pattern)}{self._tells}{self.signs}{{{self.telling},{self._most}}}"

    @property
    def _most(self) -> int:
        """Return the most signs of a key that is not whole."""
        # What tells a key from words may be at its end.
        return self.least - 1 if self.is_unlike else max(self.least - 1, 80)

    @property
    def _tells(self) -> str:
        return "" if self.is_unlike else tells(self.signs)


PREFIXES = (
    # OpenAI, Anthropic and OpenRouter; xAI, Groq, Perplexity, Tavily, NVIDIA, Cerebras, Together, Hugging Face,
    # Replicate, LangSmith, ElevenLabs
    Prefix("sk-", ANY, 20),
    Prefix("xai-", _BASE62, 40, is_unlike=True),
    Prefix("gsk_", _BASE62, 40, is_unlike=True),
    Prefix("pplx-", _BASE62, 32, is_unlike=True),
    Prefix("tvly-", ANY, 24, is_unlike=True),
    Prefix("nvapi-", ANY, 40, is_unlike=True),
    Prefix("csk-", _BASE62, 40, is_unlike=True),
    Prefix("tgp_v1_", ANY, 36, is_unlike=True),
    Prefix("hf_", _BASE62, 30),
    Prefix("r8_", _BASE62, 30, is_unlike=True),
    Prefix("lsv2_[ps][kt]_", _NO_DASH, 32, is_unlike=True, literal="lsv2_"),
    Prefix("sk_", _HEX, 40),
    # GitHub, GitLab, npm, PyPI, Docker, Figma, Linear, Notion, Atlassian
    Prefix("gh[opsur]_", _NO_DASH, 20, literal="gh"),
    Prefix("github_pat_", _NO_DASH, 20, 2, is_unlike=True),
    Prefix("glpat-", ANY, 20, 2, is_unlike=True),
    Prefix("npm_", _BASE62, 36),
    Prefix("pypi-", ANY, 50),
    Prefix("dckr_pat_", ANY, 20, is_unlike=True),
    Prefix("figd_", ANY, 36, is_unlike=True),
    Prefix("lin_api_", _BASE62, 32, is_unlike=True),
    Prefix("ntn_", _BASE62, 36, is_unlike=True),
    # DigitalOcean, Supabase, PlanetScale, Vercel, Pulumi, Tailscale, age
    Prefix("do[opr]_v1_", _HEX, 40, is_unlike=True, literal="_v1_"),
    Prefix("sbp_", _HEX, 40, is_unlike=True),
    Prefix("pscale_tkn_", ANY, 32, is_unlike=True),
    Prefix("vercel_blob_rw_", ANY, 24, is_unlike=True),
    Prefix("pul-", _HEX, 40, is_unlike=True),
    Prefix("tskey-", _NO_UNDERSCORE, 24, is_unlike=True),
    Prefix("AGE-SECRET-KEY-", _CAPITAL, 50, is_unlike=True),
    # Fly, Heroku, RubyGems, Postman
    Prefix("fm2_", _BASE64, 60, is_unlike=True),
    Prefix("HRKU-", ANY, 30, is_unlike=True),
    Prefix("rubygems_", _HEX, 40, is_unlike=True),
    Prefix("PMAK-", r"[0-9a-f\-]", 40, is_unlike=True),
    # Grafana, New Relic, PostHog, Sentry
    Prefix("glsa_", _NO_DASH, 32, is_unlike=True),
    Prefix("NRAK-", _CAPITAL, 24, is_unlike=True),
    Prefix("phx_", _BASE62, 36, is_unlike=True),
    Prefix("sntrys_", r"[0-9A-Za-z_+/=]", 40, is_unlike=True),
    # Slack, Stripe, Square, Shopify, Google OAuth
    Prefix("xapp-", _NO_UNDERSCORE, 10, 4, is_unlike=True),
    Prefix("[rs]k_live_", _BASE62, 16, 2, is_unlike=True, literal="k_live_"),
    Prefix("[rs]k_test_", _BASE62, 16, 2, is_unlike=True, literal="k_test_"),
    Prefix("whsec_", _BASE64, 16, 2, is_unlike=True),
    Prefix("sq0(?:at|cs|id)p-", ANY, 20, is_unlike=True, literal="sq0"),
    Prefix("shp(?:at|ca|pa|ss)_", _HEX, 32, is_unlike=True, literal="shp"),
    Prefix("GOCSPX-", ANY, 16, 2, is_unlike=True),
)

# Each begins with a literal, for which a pattern is searched as quickly as for a string. What follows is looked at
# before all the prefixes: in ordinary texts it has no digit and no capital soon, or is short. An ellipsis may end it.
_SIGN = r"[0-9A-Za-z_\-+/=%\\&#;]"
_LIKE_KEY = rf"(?=[a-z_\-+/=%\\&#;]{{0,24}}+[0-9A-Z])(?={_SIGN}{{2,9}}+(?:{_SIGN}|\.\.\.|\u2026))"


def _ending(sign: str, *more: str) -> str:
    """Return a pattern of the prefixes that end in `sign`, each looked for behind it."""
    prefixes = [one.pattern for one in PREFIXES if one.pattern.endswith(sign)]
    return "(?:" + "|".join(f"(?<={prefix})" for prefix in (*prefixes, *more)) + ")"


_HAS_UNDERSCORE = re.compile(rf"_{_LIKE_KEY}{_ending('_')}")
_HAS_DASH = re.compile(rf"-{_LIKE_KEY}{_ending('-', 'xox[a-z]-')}")
_OPEN_UNDERSCORE = re.compile(rf"_{_ending('_')}")
_OPEN_DASH = re.compile(rf"-{_ending('-')}")


def has_prefix(text: str) -> bool:
    """Return False when `text` certainly has no prefix with a key behind it."""
    return ("_" in text and _HAS_UNDERSCORE.search(text) is not None) or (
        "-" in text and _HAS_DASH.search(text) is not None
    )


def may_open_prefix(text: str) -> bool:
    """Return False when `text` certainly has no prefix."""
    return ("_" in text and _OPEN_UNDERSCORE.search(text) is not None) or (
        "-" in text and _OPEN_DASH.search(text) is not None
    )
