"""The events of other tools' trace files, read with Python's own library alone: nothing of Pitwall is used.

What events mean is what docs/formats.md and docs/analysis.md say.
"""
import gzip
import json
import re
import sqlite3
from decimal import Decimal


class Work:
    """What a device does. kind: kernel, memset, copy or collective."""

    __slots__ = ("start", "end", "kind", "name", "device", "correlation", "bytes", "launch")

    def __init__(self, start, end, kind, name, device, correlation, size=0):
        self.start, self.end, self.kind, self.name = start, end, kind, name
        self.device, self.correlation, self.bytes, self.launch = device, correlation, size, None

    @property
    def computes(self):
        return self.kind in ("kernel", "memset")


class Call:
    __slots__ = ("start", "end", "name", "thread")

    def __init__(self, start, end, name, thread):
        self.start, self.end, self.name, self.thread = start, end, name, thread


class Raw:
    """One file. Times are nanoseconds."""

    def __init__(self):
        self.work, self.calls, self.operators = [], [], []
        self.data_waits, self.marks, self.device_steps = [], {}, {}
        self.devices, self.memory, self.world_size, self.primitives = {}, {}, None, []
        self.order_only, self.end, self.loader_ranges = False, 0, []


def collective(name):
    return bool(re.match(r"(void )?nccl|rccl|mscclKernel", name))


# --- PyTorch ---------------------------------------------------------------------------------------------

RUNTIME = {"cuda_runtime", "cuda_driver", "Runtime", "hip_runtime", "xpu_runtime", "mtia_runtime"}
KERNEL = {"kernel", "Kernel"}
COPY = {"gpu_memcpy", "Memcpy"}
MEMSET = {"gpu_memset", "Memset"}


def nanoseconds(value):
    """Of microseconds as the file writes them; None where it is no number."""
    try:
        return int(Decimal(str(value)) * 1000)
    except ArithmeticError:
        return None


def read_json(path):
    with (gzip.open(path, "rt", errors="replace") if path.endswith(".gz") else open(path, errors="replace")) as file:
        return json.load(file, parse_float=str)


def device_work(event, start, end):
    """The work that an event stands for, or None."""
    category, name, args = event.get("cat"), event.get("name", ""), event.get("args", {})
    size = args.get("bytes", args.get("Bytes", 0))
    if category in KERNEL:
        kind = "collective" if collective(name) or "Collective name" in args else "kernel"
    elif category in COPY:
        kind = "copy"
    elif category in MEMSET:
        kind = "memset" if name.startswith("Memset") else "copy"
    elif category == "mtia_ccp_events" and name == "dma_request":
        kind, size = "copy", args.get("size", 0)
    elif category == "mtia_ccp_events" and not name.startswith("event_"):
        kind = "kernel"
    else:
        return None
    device = args.get("device", event.get("pid"))
    return Work(start, end, kind, name, int(device), int(args.get("correlation", 0) or 0), int(size))


def read_step(raw, event, name, start, end):
    category = event.get("cat")
    if name.startswith("ProfilerStep#") and category == "gpu_user_annotation":
        device = int(event.get("args", {}).get("device", event.get("pid")))
        raw.device_steps[device] = min(start, raw.device_steps.get(device, start))
    elif name.startswith("ProfilerStep#") and category in ("user_annotation", "Operator", "cpu_op"):
        raw.marks[int(name[13:])] = (start, end)
    elif name.startswith("enumerate(DataLoader)"):
        raw.data_waits.append((start, end))
        raw.loader_ranges.append((start, end, name))


def read_memory(raw, event):
    args = event.get("args", {})
    if event.get("name") == "[memory]" and int(args.get("Device Type", 0)) != 0:
        device = int(args["Device Id"])
        raw.memory[device] = max(int(args.get("Total Allocated", 0)), raw.memory.get(device, 0))


def read_kineto(document):
    raw, calls = Raw(), {}
    for properties in document.get("deviceProperties", []):
        raw.devices[int(properties["id"])] = properties
    raw.world_size = document.get("distributedInfo", {}).get("world_size")
    for event in document["traceEvents"]:
        read_memory(raw, event)
        if event.get("ph") != "X" or "ts" not in event:
            continue
        start, length = nanoseconds(event["ts"]), nanoseconds(event.get("dur", 0))
        if start is None or length is None:
            continue
        end, name = start + max(0, length), str(event.get("name", ""))
        if event.get("cat") != "Trace":
            raw.end = max(raw.end, end)
        read_step(raw, event, name, start, end)
        work = device_work(event, start, end)
        if work is not None:
            raw.work.append(work)
        elif event.get("cat") in RUNTIME:
            call = Call(start, end, name, (event.get("pid"), event.get("tid")))
            raw.calls.append(call)
            correlation = int(event.get("args", {}).get("correlation", 0) or 0)
            if correlation > 0:
                calls.setdefault(correlation, call)
        elif event.get("cat") in ("cpu_op", "Operator"):
            raw.operators.append((start, end, name, (event.get("pid"), event.get("tid"))))
    for work in raw.work:
        work.launch = calls.get(work.correlation) if work.correlation > 0 else None
    return raw


# --- Nsight Systems --------------------------------------------------------------------------------------


def read_nsight(path):
    raw, calls = Raw(), {}
    file = sqlite3.connect("file:" + path + "?mode=ro", uri=True)
    tables = {row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    texts = dict(file.execute("SELECT id, value FROM StringIds")) if "StringIds" in tables else {}
    columns = lambda table: {row[1] for row in file.execute("PRAGMA table_info(" + table + ")")}

    def rows(table, names):
        if table not in tables:
            return []
        have = columns(table)
        return file.execute("SELECT " + ", ".join(n if n in have else "0" for n in names) + " FROM " + table)

    process = lambda number: number >> 24  # of globalPid and globalTid
    for start, end, name, thread, correlation in rows(
            "CUPTI_ACTIVITY_KIND_RUNTIME", ["start", "end", "nameId", "globalTid", "correlationId"]):
        call = Call(start, end, re.sub(r"_v\d+$", "", texts.get(name, "")), thread)
        raw.calls.append(call)
        calls.setdefault((process(thread), correlation), call)
    sources = [("KERNEL", "demangledName"), ("MEMCPY", "copyKind"), ("MEMSET", "memKind")]
    for table, name in sources:
        for start, end, device, correlation, owner, text, short, size in rows(
                "CUPTI_ACTIVITY_KIND_" + table,
                ["start", "end", "deviceId", "correlationId", "globalPid", name, "shortName", "bytes"]):
            kind = {"KERNEL": "kernel", "MEMCPY": "copy", "MEMSET": "memset"}[table]
            text = texts.get(text, "") if table == "KERNEL" else str(text)
            if kind == "kernel" and (collective(text) or collective(texts.get(short, ""))):
                kind = "collective"
            work = Work(start, max(start, end), kind, text, device, correlation, size)
            work.launch = calls.get((process(owner), correlation))
            if work.launch is None and owner == 0:
                work.launch = next((c for (_, n), c in calls.items() if n == correlation), None)
            raw.work.append(work)
    file.close()
    return raw


# --- oneDNN ----------------------------------------------------------------------------------------------


class Primitive:
    __slots__ = ("start", "length", "name", "key", "memory", "attributes")

    def __init__(self, start, length, fields):
        self.start, self.length, self.name = start, length, fields[1]
        self.key, self.memory, self.attributes = tuple(fields[:-1]), fields[4], fields[5]


def read_onednn(text):
    """Executions in the order of the log."""
    raw, at = Raw(), 0
    for line in text.splitlines():
        found = re.search(r"(?:onednn|dnnl|mkldnn)_verbose,(.*)$", line)
        if not found:
            continue
        fields = found.group(1).split(",")
        if fields[0] == "v1" or fields[0] == "v0":
            fields = fields[1:]
        stamp = fields.pop(0) if re.fullmatch(r"\d+\.\d+", fields[0]) else None
        if fields and fields[0] == "primitive":
            fields = fields[1:]
        if len(fields) < 8 or fields[0] != "exec":
            continue
        raw.order_only = raw.order_only or stamp is None
        try:
            length = int(Decimal(fields[-1]) * 1000000)
        except ArithmeticError:
            continue
        start = at if stamp is None else int(Decimal(stamp) * 1000000)
        at += length
        raw.primitives.append(Primitive(start, length, fields[1:]))
    return raw


# --- MXNet -----------------------------------------------------------------------------------------------


def read_mxnet(document):
    """Operators as B and E pairs; the b and e of the same name are their twins."""
    raw, open_ranges = Raw(), {}
    for event in document["traceEvents"]:
        if event.get("cat") != "operator" or event.get("ph") not in ("B", "E"):
            continue
        key, time = (event["pid"], event["tid"], event["name"]), nanoseconds(event["ts"])
        if event["ph"] == "B":
            open_ranges.setdefault(key, []).append(time)
        elif open_ranges.get(key):
            raw.operators.append((open_ranges[key].pop(), time, event["name"], key[:2]))
    return raw


def read(path):
    """(kind of file, events), or (None, why not)."""
    if path.endswith(".sqlite"):
        return "nsight", read_nsight(path)
    if path.endswith(".log"):
        with open(path, errors="replace") as file:
            return "onednn", read_onednn(file.read())
    document = read_json(path)
    if not isinstance(document, dict) or "traceEvents" not in document:
        return "other", Raw()
    categories = {event.get("cat") for event in document["traceEvents"]}
    if "MXNET_C_API" in categories or "operator" in categories:
        return "mxnet", read_mxnet(document)
    return "kineto", read_kineto(document)
