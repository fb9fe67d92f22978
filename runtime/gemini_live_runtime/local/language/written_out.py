"""Tell in words what programs write out for other programs.

Signs of values, markup and settings are left out. Other texts stay as they are.
"""

from __future__ import annotations

import csv
import html
import re
from html.parser import HTMLParser
from urllib.parse import parse_qsl

from gemini_live_runtime.local.language.code_signs import changes_in_words

_BARE_OBJECT = re.compile(r"#?<([\w.]+)(?: object)?[^<>]*(?:<\w+>)? at 0x[0-9a-fA-F]+>")
_ADDRESS = re.compile(r":? ?\b0x[0-9a-fA-F]{3,}\b")
_BARE_ADDRESS = re.compile(r"\w+: 0x[0-9a-fA-F]{3,}")
_TAGGED = re.compile(r"#?<[\w.]+[^<>]*>")
_NAMED = re.compile(r"[{\[(<][^{}\[\]()<]*\w\\?[\"']?\s*(?:=>|:(?!//)|=(?!=))|\[\"?\w+\"?\]\s*=>")
"""Beginning of brackets with a name and its value."""

_URL = re.compile(r"(\b\w+://[^\s{}\[\]()<>\"',]+)")
_CLOSED = re.compile(r"[}\])>]")
_IN_BRACES = re.compile(r"[&%@#]?\{[^{}]*\}", re.DOTALL)

_SIGNS = re.compile(
    r"=>|(?<=[\w\"'])\s*=|(?<=[A-Za-z_\"'])\s*:(?!//)|(?<!\w):(?=\w)|[{}\[\]()<>\"&]"
    r"|(?<!\w)[@%#$](?=[\w\s{]|$)|(?<!\w)'|'(?!\w)"
)
"""Brackets, quotes, and signs between a name and its value; not those of a time or an address."""

_PRINTED_BY_R = re.compile(r"^[ \t]*\[\d+\] +", re.MULTILINE)
_NUMBERS = re.compile(r"\[[\[\]\s\d.eE+-]+\]")
"""An array as numpy prints it, without commas."""

_NOTHING = {"<nil>": "nothing", "undefined": "nothing", "[object Object]": "an object"}
_ERROR_NUMBER = re.compile(r"\[(?:Errno|WinError) -?\d+\] ")
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\):\n.*^[\w.]+(?:: )?([^\n]*)\s*\Z", re.DOTALL | re.MULTILINE
)
_QUOTED = re.compile(r"^(['\"])(.*)\1$")
_TERMINAL = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")
_QUERY = re.compile(r"\??[\w.-]+=[^&=\s]*(?:&[\w.-]+=[^&=\s]*)+")
_DATA_URL = re.compile(r"data:(\w+)/[\w.+-]+;base64,[\w+/=-]+")
_DATA = re.compile(r"(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)[A-Za-z0-9+/_-]{60,}={0,2}")
_PICTURES = {"image": "a picture", "audio": "a sound", "video": "a film"}

_MARKUP = re.compile(r"</[A-Za-z]|<[A-Za-z][^<>]*/>|<(?:br|p|hr|li)\b[^<>]*>|^<(?:\?xml|!doctype)\b", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:[a-z]{2,8}|#\d{1,7}|#x[0-9a-f]{1,6});", re.IGNORECASE)
_UNHEARD = frozenset(("head", "script", "style", "template"))
_INLINE = frozenset(
    re.findall(r"\w+", "a abbr b cite code del em font i ins kbd mark q s small span strong sub sup time u var")
)
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body br button caption center dd details div dl dt figcaption figure footer "
        "form h1 h2 h3 h4 h5 h6 header hr html img input label li main nav ol p pre section summary table tbody td "
        "tfoot th thead title tr ul",
    )
)
"""Elements of HTML between which a listener needs a pause. The names of neither say what is in them."""

_MAX_CELL = 200
"""Characters of a cell of a table; a longer one is a text with commas."""

_SECTION = re.compile(r"^\[+\s*([^\[\]]+?)\s*\]+$", re.MULTILINE)
_COMMENT = re.compile(r"[#;].*")
_SETTING = re.compile(r"([A-Za-z_][\w.-]*)\s*[=:]\s*(.*)")
_ENTRY = re.compile(r"(?:- )?([A-Za-z_][\w.-]*):(?: +(.*))?")
_OF_YAML = re.compile(
    r"^---|^[ \t]+\w|^\w[\w.-]*: *(?:~|null|[|>\"'\[{&!].*)$|^\w[\w.-]*:[ \t]*$|^\w[\w.-]*: [^#\n]* #", re.MULTILINE
)


def in_words(text: str) -> str:
    """Return a text without the signs of a value, markup or settings in it.

    As `{sky: 'clear'}` of JavaScript, `map[sky:clear]` of Go, `<p>clear</p>` or `sky = clear` below `[weather]`.
    """
    text = _TERMINAL.sub("", text)
    plain = text.strip()
    if changes := changes_in_words(plain):
        return changes
    if plain in _NOTHING:
        return _NOTHING[plain]
    if found := _TRACEBACK.fullmatch(plain):
        return _QUOTED.sub(r"\2", found[1]) or plain.rpartition("\n")[2]
    if found := _DATA_URL.fullmatch(plain):
        return _PICTURES.get(found[1], "some data")
    if _NUMBERS.fullmatch(plain) and re.search(r"\d\.? +-?\d", plain):
        return ", ".join(re.sub(r"[\[\]]", " ", plain).split())
    if _DATA.fullmatch(plain):
        return "some data"
    if _QUERY.fullmatch(plain):
        return ", ".join(f"{name} {value or 'nothing'}" for name, value in parse_qsl(plain.lstrip("?"), True))
    text = _PRINTED_BY_R.sub("", _ERROR_NUMBER.sub("", text))
    if _MARKUP.search(text):
        return _without_markup(text)
    if "\n" in plain and (settings := _settings(plain) or _entries(plain) or _rows(plain)):
        return settings
    return html.unescape(_without_signs(text)) if _ENTITY.search(text) else _without_signs(text)


def _without_signs(text: str) -> str:
    text = _BARE_OBJECT.sub(lambda match: match[1].rpartition(".")[2], text)
    alone = _URL.sub("", text)
    named = _NAMED.search(alone)
    is_value = named is not None and _CLOSED.search(alone, named.end()) is not None
    plain = text.strip()
    if not (is_value or _TAGGED.fullmatch(plain) or _IN_BRACES.fullmatch(plain)):
        return _ADDRESS.sub("", text) if _BARE_ADDRESS.fullmatch(plain) else text
    text = _ADDRESS.sub("", text).replace("<nil>", "nothing")
    parts = _URL.split(text.replace("\\", ""))
    # Every second one is an address.
    text = "".join(part if at % 2 else _SIGNS.sub(" ", part) for at, part in enumerate(parts))
    return " ".join(re.sub(r" ([,;])", r"\1", text).split()).strip(" ,;")


class _Markup(HTMLParser):
    """Reader of HTML and XML, also of such that is not well formed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unheard = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._unheard:
            return
        if tag in _UNHEARD:
            self._unheard = tag
            return
        if tag not in _INLINE:
            self.parts.append("\n")
        if tag not in _INLINE | _BLOCKS:
            told = [(name, value) for name, value in attrs if value and not name.startswith(("xmlns", "xsi:"))]
            names = (f"{_name(name)} {value}" for name, value in told)
            self.parts.append(" ".join((_name(tag), ", ".join(names), "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == self._unheard:
            self._unheard = ""
        elif tag not in _INLINE and not self._unheard:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unheard:
            self.parts.append(data)

    def unknown_decl(self, data: str) -> None:
        """Take the text of a section of characters."""
        self.parts.append(re.sub(r"<[^<>]*>", "", data.removeprefix("CDATA[")))


def _name(name: str) -> str:
    return name.rpartition(":")[2].replace("_", " ").replace("-", " ")


def _without_markup(text: str) -> str:
    reader = _Markup()
    reader.feed(text)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    told = [line for line in lines if line]
    return ", ".join(line.rstrip(",;") for line in told[:-1]) + (", " if told[1:] else "") + "".join(told[-1:])


def _settings(text: str) -> str:
    """Return the sections and settings of an INI, TOML or environment file, or ""."""
    told: list[str] = []
    is_file = _SECTION.search(text) is not None
    has_setting = False
    for line in filter(None, map(str.strip, text.splitlines())):
        if found := _SECTION.fullmatch(line):
            told.append(f"{found[1]}:")
        elif (found := _SETTING.fullmatch(line)) and (is_file or "=" in line):
            has_setting = True
            told.append(f"{found[1].replace('_', ' ')} {_bare(found[2]) or 'nothing'},")
        elif not _COMMENT.fullmatch(line):
            return ""
    return " ".join(told).rstrip(",:") if has_setting else ""


def _entries(text: str) -> str:
    """Return the entries of a YAML file, or "" for other lines."""
    lines = [line for line in text.splitlines() if line.strip() and not _COMMENT.fullmatch(line.strip())]
    if not _OF_YAML.search(text):
        return ""
    told: list[str] = []
    has_entry = False
    for line in lines:
        plain = line.strip()
        if plain in ("---", "..."):
            continue
        if found := _ENTRY.fullmatch(plain):
            has_entry = True
            name, value = found[1].replace("_", " "), _bare(re.sub(r"\s+#.*", "", found[2] or ""))
            told.append(f"{name} {'nothing' if value in ('~', 'null') else value}," if value else f"{name}:")
        elif plain.startswith("- "):
            told.append(f"{_bare(plain[2:])},")
        else:
            return ""
    return " ".join(told).rstrip(",:") if has_entry else ""


def _rows(text: str) -> str:
    """Return the rows of a CSV or TSV file as sentences, or "" for other lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    for delimiter in ("\t", ";", ","):
        try:
            rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
        except csv.Error:
            continue
        # In prose a blank follows.
        cells = [cell for row in rows for cell in row]
        if len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])} != {1} and not any(map(_is_prose, cells)):
            return "\n".join(f"{', '.join(filter(None, map(str.strip, row)))}." for row in rows)
    return ""


def _is_prose(cell: str) -> bool:
    return cell.startswith(" ") or len(cell) > _MAX_CELL


def _bare(value: str) -> str:
    """Return a setting's value without quotes, brackets, and marks of its kind."""
    value = re.sub(r"^(?:&\w+|!!?\w+)\s*", "", value.strip())
    return " ".join(re.sub(r"[\[\]{}\"]|(?<!\w)'|'(?!\w)|^[|>]$", " ", value).split())
