#!/usr/bin/env python3
"""Writes the tables of this directory from the project's reference material.

    python3 spec/extract.py ../shared

operations-<service>.txt  every published operation: method, address, query, headers, statuses, answer headers
contract-operations.txt   the operation tables of the contract: statuses, conditions, lease, first version
error-codes.txt           the published error codes by service
recorded-errors.txt       code, status and text of every refusal in the recorded answers of the real service
recorded-requests.txt     the shapes of recorded requests that succeeded, with status and whether an ETag came
recorded-access.txt       requests with a SAS or without credentials: what it was signed for, and the verdict

The tests of crates/model compare the operation table and the error table with these files.
"""
import collections, glob, gzip, json, os, re, sys
from urllib.parse import parse_qsl, unquote, urlsplit

SERVICES = ("blob", "queue", "table", "file")
HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, lines):
    with open(os.path.join(HERE, name), "w", encoding="utf-8", newline="\n") as out:
        out.write("\n".join(lines) + "\n")


# The file client is given the URL of what it works on. Its one header whose value is not published is that of a write.
FILE_PATHS = {"Service": "/", "Share": "/{share}", "Directory": "/{share}/{path}", "File": "/{share}/{path}"}


def operations(shared):
    for service in SERVICES:
        lines = []
        for op in json.load(open(f"{shared}/spec/ops-{service}.json")):
            # The queue client is given the queue's own URL, and keeps constant parameters in it.
            path, _, constant = op["url"].partition("?")
            constant = [q for q in constant.split("&") if q and q not in op["q_req"]]
            if service == "queue":
                path = "/" if op["op"].startswith("Service.") else "/{queue}" + path
            if service == "file":
                path = FILE_PATHS[op["op"].split(".")[0]]
                op["h_req"] = ["x-ms-write=update" if h == "x-ms-write" else h for h in op["h_req"]]
            lines += [
                op["op"],
                f"  request {op['method']} {path}",
                "  query " + " ".join(constant + op["q_req"] + [q + "?" for q in op["q_opt"]]),
                "  headers " + " ".join([h.replace(" ", "") for h in op["h_req"]] + [h + "?" for h in op["h_opt"]]),
                "  status " + " ".join(map(str, op["status"])),
                "  answers " + " ".join(op["resp_headers"]),
                "",
            ]
        write(f"operations-{service}.txt", [line.rstrip() for line in lines[:-1]])


def contract_operations(shared):
    lines = []
    for service in SERVICES:
        text = open(f"{shared}/contract/{service}.md", encoding="utf-8").read()
        # Only section 1: blob.md also describes the file system endpoint, under names of its own.
        section = text.split("## 1. Operations", 1)[1].split("\n## ", 1)[0]
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if len(cells) == 9 and re.fullmatch(r"[A-Za-z]+\.[a-z_]+", cells[0]):
                op, _, _, _, status, _, conditions, lease, since = cells
                values = (service, op, status, conditions.replace("\u2014", "-"), lease.replace("\u2014", "-"), since[:10])
                lines.append(" | ".join(values))
    write("contract-operations.txt", lines)


def error_codes(shared):
    enums = json.load(open(f"{shared}/spec/enums.json"))
    found = [(s, c) for s in enums for c in enums[s].get("StorageErrorCode", [])]
    write("error-codes.txt", [f"{service} {code}" for service, code in sorted(set(found))])


def exchanges(shared):
    for path in sorted(glob.glob(f"{shared}/replay/recordings/*.gz")):
        if not os.path.basename(path).startswith(SERVICES):
            continue
        for line in gzip.open(path, "rt", encoding="utf-8"):
            test = json.loads(line)
            for entry in test["entries"]:
                host = urlsplit(entry["uri"]).netloc.split(".")
                yield (host[1] if len(host) > 1 else test["service"]), entry


def text(value):
    return value if isinstance(value, str) else json.dumps(value) if value else ""


def recorded_errors(shared):
    found = collections.Counter()
    for service, entry in exchanges(shared):
        if service not in ("blob", "queue", "table", "file") or entry["status"] < 300:
            continue
        body = text(entry.get("response_body"))
        code = re.search(r"<(?:m:)?code>([^<]*)<", body, re.I) or re.search(r'"code":\s*"([^"]*)"', body)
        message = re.search(r"<(?:m:)?message[^>]*>(.*?)(?:\n|\\n|<)", body, re.I | re.S)
        message = message or re.search(r'"(?:value|message)":\s*"(.*?)(?:\\n|")', body)
        code = code.group(1) if code else entry["response_headers"].get("x-ms-error-code")
        if code:
            # Names of accounts and tables are nobody's business.
            message = re.sub("'[^']*'", "'...'", message.group(1)) if message else "-"
            found[service, code, entry["status"], message] += 1
    write("recorded-errors.txt", [" | ".join(map(str, (*key, found[key]))) for key in sorted(found)])


def resource(service, path):
    path = unquote(path).lstrip("/")
    if not path:
        return "Account"
    if service == "table":
        if path == "$batch":
            return "Batch"
        if path.startswith("Tables"):
            return "Table" if path.startswith("Tables('") else "Tables"
        return "Entity" if "PartitionKey=" in path else "EntitySet"
    depth = path.rstrip("/").count("/")
    if service == "queue":
        return ("Queue", "Messages", "Message")[min(depth, 2)]
    if service == "file":
        return "Path" if depth else "Share"
    return "Blob" if depth else "Container"


# What rows may be told apart by; for the last group only the presence counts.
QUERY_VALUES = ("comp", "restype", "peekonly")
QUERY_NAMES = ("blockid", "copyid", "popreceipt", "visibilitytimeout", "snapshot", "versionid",
               "prevsnapshot", "sharesnapshot", "prevsharesnapshot")
HEADER_VALUES = ("x-ms-blob-type", "x-ms-requires-sync", "x-ms-page-write", "x-ms-lease-action", "x-ms-copy-action",
                 "x-ms-type", "x-ms-write")
HEADER_NAMES = ("x-ms-copy-source", "x-ms-access-tier", "x-ms-expiry-option", "x-ms-legal-hold",
                "x-ms-source-container-name", "x-ms-if-tags", "x-ms-tags", "x-ms-file-rename-source", "x-ms-handle-id")


def shape(service, entry):
    """(resource, method, marks) of a request."""
    url = urlsplit(entry["uri"])
    query = dict(parse_qsl(url.query, keep_blank_values=True))
    headers = {name.lower(): value for name, value in entry["request_headers"].items()}
    target = resource(service, url.path)
    if target == "Container" and query.get("restype") not in ("container", "account"):
        target = "Blob"
    if target == "Share" and query.get("restype") != "share":
        target = "Path"
    marks = [f"?{name}={query[name]}" for name in QUERY_VALUES if name in query]
    marks += [f"?{name}" for name in QUERY_NAMES if name in query]
    marks += [f"{name}={headers[name]}" for name in HEADER_VALUES if name in headers]
    marks += [name for name in HEADER_NAMES if name in headers]
    marks += ["if-match"] if service == "table" and "if-match" in headers else []
    return target, entry["method"], " ".join(marks) or "-"


def recorded_requests(shared):
    found = collections.Counter()
    for service, entry in exchanges(shared):
        if service in SERVICES and 200 <= entry["status"] < 300:
            answer = {name.lower() for name in entry["response_headers"]}
            etag = "etag" if "etag" in answer else "-"
            found[(service, *shape(service, entry), str(entry["status"]), etag)] += 1
    write("recorded-requests.txt", [" | ".join((*key, str(found[key]))) for key in sorted(found)])


def recorded_access(shared):
    found = collections.Counter()
    for service, entry in exchanges(shared):
        query = dict(parse_qsl(urlsplit(entry["uri"]).query))
        if service not in SERVICES or entry["auth"] not in ("sas", "udsas", "none"):
            continue
        if entry["auth"] == "none":
            signed = ("none", "-", "-")
        elif "sp" not in query:
            continue  # the permissions are those of a stored policy
        elif "ss" in query:
            signed = ("account", query["srt"], query["sp"])
        else:
            signed = ("service", query.get("sr", "-"), query["sp"])
        code = entry["response_headers"].get("x-ms-error-code") or "-"
        body = re.search(r'"code":\s*"([^"]*)"', text(entry.get("response_body")))
        code = body.group(1) if body else code
        verdict = "allowed" if entry["status"] < 400 else f"{entry['status']} {code}"
        found[(service, *shape(service, entry), *signed, verdict)] += 1
    write("recorded-access.txt", [" | ".join((*key, str(found[key]))) for key in sorted(found)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for extract in (operations, contract_operations, error_codes, recorded_errors, recorded_requests, recorded_access):
        extract(sys.argv[1])
