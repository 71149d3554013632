"""What a run left, as digests: texts, JSON key by key, tables column by column, arrays of Python.

A digest of a whole file says that something changed; those of its columns and of its metadata say
what. What may differ from one run to the next without harm is taken out before: seconds, the
version, the folder. All formats but Parquet are read here with the standard library, so that a
fault in the program's own readers cannot hide one in its writers; Parquet needs pyarrow.
"""

import base64
import csv
import gzip
import hashlib
import io
import json
import re
import struct
import xml.etree.ElementTree as xml


def digest(content, length=10):
    if isinstance(content, str):
        content = content.encode()
    return hashlib.sha256(content).hexdigest()[:length]


# Digests of parts of a file, beside that of the whole, are shorter: there are thousands.
PART = 5


class Normal:
    """Takes out what may differ: the version, the folder, seconds."""

    def __init__(self, version, folder):
        self.version, self.folder = version, str(folder)

    def plain(self, text):
        return text.replace(self.version, "VERSION").replace(self.folder, "FOLDER")

    def bytes(self, content):
        return content.replace(self.version.encode(), b"VERSION").replace(self.folder.encode(), b"FOLDER")

    def text(self, text):
        text = self.plain(text)
        text = re.sub(r'("seconds\w*": )[-+.\de]+', r"\1#", text)
        text = re.sub(r"\b\d+\.\d+ s\b", "# s", text)
        return _without_column_of_seconds(text)


def _without_column_of_seconds(text):
    """Markdown, CSV or the demonstration's table: no times in the columns named so.

    Their blanks go too, since the width of a column is that of the longest time.
    """
    lines, split, where = [], None, []
    for line in text.split("\n"):
        cells = split(line) if split else []
        if len(cells) <= max(where, default=0):
            split = _by_bars if line.startswith("|") else _by_commas if "," in line else _last_word
            cells = split(line) if "seconds" in line else []
            where = [i for i, cell in enumerate(cells) if re.fullmatch(r"seconds(_sd)?", cell.strip())]
        if where:
            times = (cells[i].strip() for i in where)
            for i, time in zip(where, times):
                cells[i] = time if time.startswith("seconds") else "#"
            line = "|".join(cells)
        else:
            split = None
        lines.append(line)
    return "\n".join(lines)


def _by_bars(line):
    return line.split("|") if line.startswith("|") else []


def _by_commas(line):
    return next(csv.reader([line]), [])


def _last_word(line):
    words = line.rsplit(None, 1)
    return [words[0].rstrip(), words[1]] if len(words) == 2 else []


def of_text(what, text, normal):
    """Lines of a text; where it is a JSON object, one line for each key."""
    clean = normal.text(text)
    lines = [(what, digest(clean))]
    if clean.startswith("{"):
        try:
            known = json.loads(text)
        except ValueError:
            return lines
        lines += [(f"{what} key {key}", digest(normal.text(json.dumps({key: value}, indent=1)), PART)) for key, value in known.items()]
    return lines


TEXTS = (".json", ".md", ".tex", ".txt", ".nwk")


def of_file(name, content, normal):
    """Lines of a file: its bytes, then what is in it."""
    ending = name.removesuffix(".gz")
    if name.endswith(".gz"):
        return [(name, digest(normal.bytes(content)))] + of_file(ending, gzip.decompress(content), normal)[1:]
    if ending.endswith(TEXTS):
        return of_text(name, content.decode(), normal)
    whole = normal.text(content.decode()) if ending.endswith((".csv", ".ecsv")) else normal.bytes(content)
    lines = [(name, digest(whole))]
    reader = next((read for end, read in READERS.items() if ending.endswith(end)), None)
    if reader is not None:
        try:
            own = [(what, value if isinstance(value, bytes) else value.encode()) for what, value in reader(content)]
        except Exception as error:  # a file of another make is a difference, not the end of the run
            own = [("unreadable", repr(error).encode())]
        # Types, units and descriptions of all columns are one line.
        fields = b"\n".join(what.encode() + b" " + value for what, value in own if what.startswith("field "))
        own = [("fields", fields)] * bool(fields) + [(what, value) for what, value in own if not what.startswith("field ")]
        lines += [(f"{name} {what}", digest(normal.bytes(value), PART)) for what, value in own]
    return lines


def _columns(rows):
    """CSV text as (col NAME, its cells)."""
    rows = list(csv.reader(rows))
    names = rows[0] if rows else []
    for i, name in enumerate(names):
        if name not in ("seconds", "seconds_sd"):
            yield f"col {name}", "\n".join(row[i] if i < len(row) else "" for row in rows[1:])


def _csv(content):
    text = content.decode()
    return _columns(line for line in text.splitlines() if not line.startswith("#"))


def _ecsv(content):
    text = content.decode()
    about = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    in_meta = False
    for line in about:
        if line.startswith("meta:"):
            in_meta = True
        entry = re.match(r"- \{(.*)\}$", line)
        if entry is None:
            continue
        if in_meta:
            key, _, value = entry[1].partition(": ")
            yield f"meta {key}", value
        else:
            name = re.match(r'name: ("(?:[^"\\]|\\.)*"|[^,]*)', entry[1])[1]
            yield f"field {name}", entry[1]
    yield from _columns(line for line in text.splitlines() if not line.startswith("#"))


def _fits(content):
    cards, at = [], 0
    for _ in range(2):  # the primary header, then that of the table; neither has data before
        own = []
        while True:
            card = content[at : at + 80].decode("ascii")
            at += 80
            if card.startswith("END     "):
                break
            own.append(card)
        at += -at % 2880
        cards.append(own)
    known, meta = {}, {}
    for card in cards[0] + cards[1]:
        if card.startswith("HIERARCH "):
            key, _, value = card[9:].partition("=")
            meta[key.strip()] = meta.get(key.strip(), "") + value.strip()
            last = key.strip()
        elif card.startswith("CONTINUE"):
            meta[last] = meta.get(last, "") + card[8:].strip()
        else:
            key, value = card[:8].strip(), card[10:].strip()
            known[key] = value
            last = key
            if not re.match(r"(TTYPE|TFORM|TUNIT|TNULL|TDISP|TCOMM)\d+$|SIMPLE|BITPIX|NAXIS|XTENSION|PCOUNT|GCOUNT|TFIELDS|EXTEND", key):
                meta[key] = meta.get(key, "") + value
    for key, value in meta.items():
        yield f"meta {key.lower()}", value
    plain = lambda value: re.match(r"'((?:[^']|'')*)'", value)[1].rstrip()  # noqa: E731
    width, rows = int(known["NAXIS1"].split("/")[0]), int(known["NAXIS2"].split("/")[0])
    sizes = {"L": 1, "B": 1, "I": 2, "J": 4, "K": 8, "E": 4, "D": 8, "A": 1}
    offset = 0
    for i in range(1, int(known["TFIELDS"].split("/")[0]) + 1):
        name, form = plain(known[f"TTYPE{i}"]), plain(known[f"TFORM{i}"])
        count, code = re.match(r"(\d*)(\w)", form).groups()
        size = int(count or 1) * sizes[code]
        yield f"field {name}", "; ".join(f"{key}={known.get(key + str(i), '')}" for key in ("TFORM", "TUNIT", "TNULL", "TCOMM"))
        yield f"col {name}", b"".join(content[at + r * width + offset :][:size] for r in range(rows))
        offset += size


def _votable(content):
    root = xml.fromstring(content)
    for node in root.iter():
        node.tag = node.tag.rsplit("}", 1)[-1]
    for node in root.iter():
        if node.tag in ("PARAM", "INFO"):
            yield f"meta {node.get('name')}", " ".join([*(f"{k}={v}" for k, v in sorted(node.attrib.items())), node.text or ""])
    fields = list(root.iter("FIELD"))
    for field in fields:
        said = [f"{key}={value}" for key, value in sorted(field.attrib.items())]
        yield f"field {field.get('name')}", "; ".join(said + [part.text or part.tag for part in field])
    stream = next(root.iter("STREAM"), None)
    if stream is None:
        return
    data, at = base64.b64decode(stream.text or ""), 0
    columns = [[] for _ in fields]
    sizes = {"boolean": 1, "unsignedByte": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8, "char": 1, "unicodeChar": 2}
    while at < len(data):
        nulls = data[at : at + (len(fields) + 7) // 8]
        at += len(nulls)
        for i, field in enumerate(fields):
            count = field.get("arraysize", "1")
            if "*" in count:
                count = struct.unpack(">i", data[at : at + 4])[0]
                at += 4
            size = int(count) * sizes[field.get("datatype")]
            is_null = nulls[i // 8] >> (7 - i % 8) & 1
            columns[i].append(b"null" if is_null else data[at : at + size])
            at += size
    for field, cells in zip(fields, columns):
        yield f"col {field.get('name')}", b"\n".join(cells)


def _parquet(content):
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(content))
    for key, value in sorted((table.schema.metadata or {}).items()):
        yield f"meta {key.decode()}", value
    for field in table.schema:
        about = {key.decode(): value.decode() for key, value in (field.metadata or {}).items() if not key.startswith(b"PARQUET:")}
        yield f"field {field.name}", f"{field.type} {sorted(about.items())}"
        yield f"col {field.name}", repr(table[field.name].to_pylist())


READERS = {".csv": _csv, ".ecsv": _ecsv, ".fits": _fits, ".vot": _votable, ".parquet": _parquet}


def of_value(value, normal):
    """The digest of a value: arrays by type, shape and bytes, numbers by their shortest text."""
    return digest(normal.plain(described(value)), PART)


def described(value):
    import numpy as np

    if hasattr(value, "unit") and hasattr(value, "value"):  # an astropy quantity
        return f"quantity {value.unit} {described(np.asarray(value.value))}"
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return f"array of objects {value.shape} {[described(v) for v in value.ravel()]}"
        numbers = np.ascontiguousarray(value)
        return f"array {numbers.dtype.descr if numbers.dtype.names else numbers.dtype.str} {numbers.shape} {numbers.tobytes().hex()}"
    if isinstance(value, np.generic):
        return described(value.item())
    if value is None or isinstance(value, (bool, int, float, str)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {described(v)}" for key, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__} [" + ", ".join(described(v) for v in value) + "]"
    if hasattr(value, "indptr"):  # a sparse matrix
        return "sparse " + ", ".join(described(part) for part in (value.shape, value.indptr, value.indices, value.data))
    raise TypeError(f"no digest for a {type(value).__name__}")
