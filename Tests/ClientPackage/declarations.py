"""Compares the declarations of the modules with those of Apple's frameworks. See tools/client-package.

usage: declarations.py GRAPHS CONTRACT

GRAPHS is a folder of symbol graphs, CONTRACT one with three lists, a declaration a line:

declarations.txt    what must be there: argument labels, optionality, defaults, `async` and `throws`
differences.txt     of those, what differs on purpose: after `-` theirs, after `+` ours (nothing if there is none), and
                    above them, after `#`, the reason
not-there-yet.txt   what must not be there: what is declared belongs into the first list. A comment has their number,
                    so that a longer list is noticed

A declaration stands after the name of its type. It has no attributes, no names of parameters, `String` for its aliases,
and `{ get }` or `{ get set }` for each property.
"""

import collections
import json
import pathlib
import re
import sys

# Swift's names for classes, which are archived under the names of Objective-C.
NESTED = {
    "CKShareAccessRequester": "CKShare.AccessRequester",
    "CKShareBlockedIdentity": "CKShare.BlockedIdentity",
    "CKShareMetadata": "CKShare.Metadata",
    "CKShareParticipant": "CKShare.Participant",
    "CKUserIdentityLookupInfo": "CKUserIdentity.LookupInfo",
    "CKFetchRecordZoneChangesConfiguration": "CKFetchRecordZoneChangesOperation.ZoneConfiguration",
    "CKFetchRecordZoneChangesOptions": "CKFetchRecordZoneChangesOperation.ZoneOptions",
    "CKNotificationID": "CKNotification.ID",
    "CKNotificationInfo": "CKSubscription.NotificationInfo",
    "CKQueryCursor": "CKQueryOperation.Cursor",
    "CKRecordID": "CKRecord.ID",
    "CKRecordZoneID": "CKRecordZone.ID",
    "CKUserIdentityLookupInfo": "CKUserIdentity.LookupInfo",
    "CKReference": "CKRecord.Reference",
}
STRINGS = r"\b(CKRecord\.FieldKey|CKRecord\.RecordType|CKSubscription\.ID|CKOperation\.ID)\b"
MODIFIERS = r"\b(public|open|final|convenience|required|override|mutating|nonisolated(\(nonsending\))?|weak|any) "


def split(text, separator=","):
    """The parts of a list, which may hold lists."""
    parts, depth, part = [], 0, ""
    for index, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or character == ">" and text[index - 1] != "-":
            depth -= 1
        if character == separator and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return parts + [part.strip()] if part.strip() else parts


def parameters(text):
    """Where the list of parameters of a function begins and ends; None without one."""
    match = re.match(r"(static )?(func [^(<]+|init[?!]?|subscript)(<[^(]*>)?\(", text)
    if not match:
        return None
    depth = 0
    for index in range(match.end() - 1, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0:
            return match.end(), index
    return None


def normal(text):
    """A declaration as it stands in the lists."""
    text = re.sub(r"@\w+(\([^)]*\))?\s*", "", re.sub(r"\s+", " ", text))
    text = re.sub(MODIFIERS, "", text).replace("`", "").strip()
    for name, nested in NESTED.items():
        text = re.sub(rf"\b{name}\b", nested, text)
    text = re.sub(STRINGS, "String", text)
    text = re.sub(r"\((\w+)\)\?", r"\1?", re.sub(r"\bVoid\b", "()", text).replace(" : ", ": "))
    text = re.sub(r"^class (func|var|let) ", r"static \1 ", text)
    text = re.sub(r"\(_ \w+: ", "(", re.sub(r", _ \w+: ", ", ", text)) if text.split(" ")[0] == "var" else text
    if re.match(r"(static )?let ", text):
        text = text.replace("let ", "var ", 1) + " { get }"
    elif re.match(r"(static )?var ", text) and not text.endswith("}"):
        text += " { get set }"
    if bounds := parameters(text):
        listed = []
        for parameter in split(text[bounds[0] : bounds[1]]):
            label, _, kind = parameter.partition(":")
            kind = re.sub(r"([(,] ?)_ \w+: ", r"\1", kind)
            listed.append(label.split(" ")[0] + ":" + kind)
        text = text[: bounds[0]] + ", ".join(listed) + text[bounds[1] :]
    return text


def key(line):
    """What a declaration is called: its type, name and labels."""
    owner, _, text = line.rpartition(": ") if ": " not in line else line.partition(": ")
    if match := re.match(r"(class|struct|enum|protocol) ([\w.]+)", line):
        return match[2]
    name = re.sub(r"^(static )?(func |var |case |typealias )?", "", text)
    if bounds := parameters(text):
        labels = "".join(part.partition(":")[0] + ":" for part in split(text[bounds[0] : bounds[1]]))
        return f"{owner}.{re.match(r'[^(<?!]+', name)[0]}({labels})"
    return f"{owner}.{re.match(r'[^ :=(]+', name)[0]}"


class Modules:
    """What is public in the modules."""

    def __init__(self, graphs):
        self.lines = set()
        self.conformances = collections.defaultdict(set)
        names = {}
        documents = [json.loads(path.read_text()) for path in sorted(pathlib.Path(graphs).glob("*.symbols.json"))]
        for symbol in (symbol for document in documents for symbol in document["symbols"]):
            path = [NESTED.get(name, name) for name in symbol["pathComponents"]]
            names[symbol["identifier"]["precise"]] = ".".join(path)
            kind = symbol["kind"]["identifier"].removeprefix("swift.")
            if kind in ("class", "struct", "enum", "protocol"):
                self.lines.add(f"{kind} {'.'.join(path)}")
            else:
                text = normal("".join(part["spelling"] for part in symbol["declarationFragments"]))
                self.lines.add(f"{'.'.join(path[:-1])}: {text}".removeprefix(": "))
        for relation in (relation for document in documents for relation in document["relationships"]):
            if relation["kind"] in ("conformsTo", "inheritsFrom"):
                target = names.get(relation["target"], relation.get("targetFallback", "").split(".")[-1])
                self.conformances[names.get(relation["source"])].add(target)
        self.keys = collections.defaultdict(list)
        for line in self.lines:
            self.keys[key(line)].append(line)

    def problem(self, line):
        """What is wrong with a declaration that should be there; None if it is."""
        head, _, listed = line.partition(": ")
        if re.match(r"(class|struct|enum|protocol) ", head):
            if head not in self.lines:
                return f"there is no {head}"
            # The compiler writes a composition as its parts.
            listed = listed.replace("Codable", "Decodable, Encodable")
            missing = set(split(listed)) - self.conformances[head.split(" ")[1]]
            return f"{head} does not conform to {', '.join(sorted(missing))}" if missing else None
        if line in self.lines or self.inherits(line):
            return None
        there = " or ".join(sorted(self.keys[key(line)]))
        return f"there is no {line}" + (f"\n    but {there}" if there else "")


    def inherits(self, line):
        """Whether a superclass or the extension of a protocol has a member for a type."""
        owner, _, text = line.partition(": ")
        members = [f"{above}: {text}" for above in self.conformances[owner]]
        return any(member in self.lines or self.inherits(member) for member in members)


def lines(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def differences(path):
    """Theirs and ours, in pairs; ours is None where there is none."""
    pairs, reason = [], None
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            reason = line
        elif line.startswith("- "):
            if not reason:
                sys.exit(f"{path}: no reason is given for {line[2:]}")
            pairs.append([line[2:], None])
        elif line.startswith("+ "):
            pairs[-1][1] = line[2:]
        elif not line:
            reason = None
    return pairs


def problems(modules, contract):
    declared = lines(contract / "declarations.txt")
    differing = dict(differences(contract / "differences.txt"))
    for line in declared:
        if line not in differing:
            yield modules.problem(line)
        elif not modules.problem(line):
            yield f"this does not differ any more: {line}"
    for theirs, ours in differing.items():
        if theirs not in declared:
            yield f"not in declarations.txt: {theirs}"
        if ours:
            yield modules.problem(ours)
    missing = lines(contract / "not-there-yet.txt")
    number = re.search(r"^# Declarations missing: (\d+)\.", (contract / "not-there-yet.txt").read_text(), re.MULTILINE)
    if not number or int(number[1]) != len(missing):
        yield f"not-there-yet.txt has {len(missing)} declarations, and says {number[1] if number else 'nothing'}"
    for line in missing:
        if line in declared:
            yield f"in both lists: {line}"
        if there := modules.keys.get(key(line)):
            yield f"this is declared now, and belongs into declarations.txt: {' or '.join(sorted(there))}"


def main(graphs, contract):
    found = [problem for problem in problems(Modules(graphs), pathlib.Path(contract)) if problem]
    for problem in found:
        print(problem)
    count = len(lines(pathlib.Path(contract) / "declarations.txt"))
    print(f"{count} declarations were looked for, {len(found)} problems found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
