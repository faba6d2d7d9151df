#!/usr/bin/env python3
"""Prints the log of a Strata store as JSON lines. Written from docs/format.md alone, not from the engine's code.

usage: read_log.py STORE      exit code 0, or 1 and a message when something is not what the page says
"""
import json
import os
import struct
import sys

NAMESPACES = ["user", "device", "database", "zone", "record type", "field"]
SCOPES = ["public", "private", "shared"]
OPERATIONS = ["none", "modify records", "modify zones", "modify subscriptions", "schema", "account", "console",
              "accept shares", "fetch", "query", "feed"]
ACTORS = {1: "user", 2: "service", 3: "signed out"}
QUALITIES = ["default", "background", "utility", "user-initiated", "user-interactive"]
KINDS = {1: "name interned", 2: "database created", 16: "record saved", 17: "record deleted", 18: "record erased",
         24: "zone saved", 25: "zone deleted", 32: "subscription saved", 33: "subscription deleted",
         40: "schema changed", 48: "user changed", 49: "device seen", 50: "user record named",
         56: "client token kept", 57: "long-lived operation", 64: "share saved",
         65: "member changed", 66: "shared record", 72: "key changed",
         80: "base marker", 81: "continuation", 82: "tokens expired", 83: "secret drawn",
         84: "rules stated",
         128: "request refused", 129: "fetched", 130: "notification delivered", 131: "console acted",
         132: "nothing to delete"}
VALUES = {1: "string", 2: "int64", 3: "double", 4: "date", 5: "data", 6: "location", 7: "reference", 8: "asset"}
CHANGES = ["create", "update", "touch"]
POLICIES = ["if server record unchanged", "changed keys", "all keys"]
PERMISSIONS = {1: "none", 2: "read only", 3: "read and write"}
ROLES = {1: "owner", 2: "administrator", 3: "private user", 4: "public user"}
STATED_POLICIES = ("touches parents", "enforces the schema", "unknown types are errors", "extends predicates")
REASONS = ["deleted", "purged", "encrypted data reset"]
CRC_TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ 0x82F63B78 * (number & 1)
    CRC_TABLE.append(number)


class Damage(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Damage(" ".join(map(str, what)))


def crc32c(data, value=0):
    value ^= 0xFFFFFFFF
    for byte in data:
        value = CRC_TABLE[(value ^ byte) & 255] ^ value >> 8
    return value ^ 0xFFFFFFFF


def product(left, right):
    """Of two polynomials modulo that of CRC-32C, x to the power of 0 in the highest bit."""
    total = 0
    for bit in range(31, -1, -1):
        total ^= right if left >> bit & 1 else 0
        right = right >> 1 ^ 0x82F63B78 * (right & 1)
    return total


def crc32c_over(length, checksum, value):
    """Goes on from `value` over bytes of which only length and checksum are known."""
    power, factor = 1 << 31, 1 << 23
    while length:
        power = product(power, factor) if length & 1 else power
        factor, length = product(factor, factor), length >> 1
    return product(value, power) ^ checksum


def lz4_block(data):
    out, at = bytearray(), 0

    def length(nibble, at):
        more = nibble == 15
        while more:
            nibble, more, at = nibble + data[at], data[at] == 255, at + 1
        return nibble, at

    while True:
        token = data[at]
        count, at = length(token >> 4, at + 1)
        out += data[at:at + count]
        at += count
        if at == len(data):
            return bytes(out)
        distance = data[at] | data[at + 1] << 8
        check(0 < distance <= len(out), "LZ4 match reaches before the beginning")
        count, at = length(token & 15, at + 2)
        for _ in range(count + 4):
            out.append(out[-distance])


def header_block(data, magic):
    check(data[:8] == magic, "wrong magic", data[:8])
    version, size, checksum = struct.unpack_from("<HHI", data, 8)
    check(size % 8 == 0 and 16 <= size <= min(4096, len(data)), "impossible header size", size)
    check(crc32c(data[:12] + bytes(4) + data[16:size]) == checksum, "bad header checksum")
    check(version == 1, "format version", version)
    fields, at = {}, 16
    while at + 4 <= size:
        tag, length = struct.unpack_from("<HH", data, at)
        if tag == 0:
            break
        fields[tag & 0x7FFF] = data[at + 4:at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
    return size, checksum, fields


def number(data, signed=False):
    return int.from_bytes(data, "little", signed=signed)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def string(data, at):
    length, at = varint(data, at)
    return data[at:at + length].decode(), at + length


def interned(body, names):
    space, (ordinal, at), event = body[0], varint(body, 1), {}
    event.update(namespace=NAMESPACES[space - 1], ordinal=ordinal)
    if space == 2:
        event["user"], at = varint(body, at)
        if (1, event["user"]) in names:
            event["userName"] = names[1, event["user"]]
    elif space == 3:
        event["scope"] = SCOPES[body[at] - 1]
        event["owner"], at = varint(body, at + 1)
    elif space == 4:
        event["database"], at = varint(body, at)
        event["owner"], at = varint(body, at)
    if space != 3:
        event["text"], at = string(body, at)
        names[space, ordinal] = event["text"]
    check(at == len(body), "bytes behind an interned name")
    return event


def tag(packed):
    digits = ""
    while packed or not digits:
        packed, digit = divmod(packed, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


def keyed(body, at):
    """The fields of a body by key, and where they end."""
    length, at = varint(body, at)
    fields, limit = {}, at + length
    while at < limit:
        key, at = varint(body, at)
        length, at = varint(body, at)
        fields[key] = body[at:at + length]
        at += length
    check(at == limit, "keyed fields do not end where they should")
    return fields, at


def value_name(value):
    if not value:
        return "removed"
    kind = value[0]
    if kind == 0x40 or kind == 0x81:
        return "empty list" if kind == 0x40 else "encrypted"
    if kind >> 6 == 1 and kind & 63 in VALUES:
        return "list of " + VALUES[kind & 63]
    return VALUES.get(kind, f"unknown value {kind}")


def field_table(body, at, names):
    count, at = varint(body, at)
    if count == 0:
        check(at == len(body), "bytes behind a field table")
        return []
    wide, end_wide = body[at] & 15, body[at] >> 4
    ends = at + 1 + count * wide
    values = ends + count * end_wide
    fields, start = [], 0
    for index in range(count):
        end = number(body[ends + index * end_wide:ends + (index + 1) * end_wide])
        field = {"field": number(body[at + 1 + index * wide:at + 1 + (index + 1) * wide])}
        if (6, field["field"]) in names:
            field["fieldName"] = names[6, field["field"]]
        value = body[values + start:values + end]
        field.update(value=value_name(value), valueBytes=len(value))
        fields.append(field)
        start = end
    check(values + start == len(body), "bytes behind a field table")
    return fields


def saved(body, at, names):
    flags, (previous, at) = body[at], varint(body, at + 1)
    base = previous if flags >> 5 & 3 == 1 else 0
    if flags >> 5 & 3 == 2:
        base, at = varint(body, at)
    event = {"change": CHANGES[flags & 3], "policy": POLICIES[flags >> 2 & 3], "full": flags & 16 > 0}
    if previous:
        event["previous"] = tag(previous)
    if base:
        event["base"] = tag(base)
    _, at = keyed(body, at)
    event["fields"] = field_table(body, at, names)
    if flags & 128:
        check(not event["fields"], "fields of an erased save")
        event["erased"] = True
    return event


def deleted(body, at):
    previous, at = varint(body, at)
    event = {"previous": tag(previous)} if previous else {}
    fields, at = keyed(body, at)
    check(at == len(body), "bytes behind a deletion")
    event["cascade"] = fields.get(5) == b"\x01"
    return event


def erased(body, at):
    previous, at = varint(body, at)
    event = {"previous": tag(previous)} if previous else {}
    fields, at = keyed(body, at)
    check(at == len(body), "bytes behind an erasure")
    if 5 in fields:
        event["reason"] = fields[5].decode()
    return event


def zone(kind, body, at):
    event = {}
    event["database"], at = varint(body, at)
    incarnation, at = varint(body, at)
    if incarnation:
        event["incarnation"] = tag(incarnation)
    if kind == 24:
        event["capabilities"], at = varint(body, at)
    else:
        event["reason"], at = REASONS[body[at] - 1], at + 1
    check(keyed(body, at)[1] == len(body), "bytes behind a zone")
    return event


def named_ordinal(event, key, number, table, names):
    event[key] = number
    if (table, number) in names:
        event[key + "Name"] = names[table, number]


def sharing(kind, body, names):
    event, at = {}, 0
    if kind == 64:
        event["share"], at = varint(body, at)
        number, at = varint(body, at)
        named_ordinal(event, "zone", number, 4, names)
        event["record"], at = string(body, at)
        _, at = string(body, at)
        fields, at = keyed(body, at)
        if 4 in fields:
            event["root"] = fields[4].decode()
        event["publicPermission"] = PERMISSIONS[varint(fields[6], 0)[0] if 6 in fields else 1]
        event["oneTimeURLs"] = varint(fields[8], 0)[0] if 8 in fields else 0
        event["ended"] = 10 in fields
    elif kind == 65:
        number, at = varint(body, at)
        named_ordinal(event, "user", number, 1, names)
        event["share"], at = varint(body, at)
        number, at = varint(body, at)
        named_ordinal(event, "zone", number, 4, names)
        event["role"], event["permission"] = ROLES[body[at + 1]], PERMISSIONS[body[at]]
        fields, at = keyed(body, at + 2)
        if 4 in fields:
            event["joined"] = tag(varint(fields[4], 0)[0])
        if 8 in fields:
            event["accessEnded"] = tag(varint(fields[8], 0)[0])
        event["gone"] = 6 in fields
    else:
        number, at = varint(body, at)
        named_ordinal(event, "zone", number, 4, names)
        number, at = varint(body, at)
        named_ordinal(event, "type", number, 5, names)
        event["record"], at = string(body, at)
        event["share"], at = varint(body, at)
        fields, at = keyed(body, at)
        event["gone"] = 4 in fields
    check(at == len(body), "bytes behind an event of a share")
    return event


def event_fields(kind, body, names):
    event = {"kind": kind, "name": KINDS.get(kind, f"unknown event {kind}"), "bytes": len(body)}
    if kind == 1:
        event.update(interned(body, names))
    elif kind in (64, 65, 66):
        event.update(sharing(kind, body, names))
    elif kind == 2:
        event["database"], at = varint(body, 0)
        check(keyed(body, at)[1] == len(body), "bytes behind a database")
    elif kind == 49:
        ordinal, at = varint(body, 0)
        named_ordinal(event, "device", ordinal, 2, names)
        check(keyed(body, at)[1] == len(body), "bytes behind a device")
    elif kind == 50:
        ordinal, at = varint(body, 0)
        named_ordinal(event, "user", ordinal, 1, names)
        event["recordName"], at = string(body, at)
        check(keyed(body, at)[1] == len(body), "bytes behind the name of a user's record")
    elif kind == 83:
        # The secret itself is not for printing.
        event["secret"], at = varint(body, 0)
        check(keyed(body, at + 32)[1] == len(body), "bytes behind a secret")
    elif kind == 84:
        limits, at = [], 0
        for _ in range(6):
            limit, at = varint(body, at)
            limits.append(limit)
        keys = ("itemsPerRequest", "maximumRequestBytes", "maximumRecordBytes", "maximumAssetBytes",
                "owningReferences", "movedRecords")
        event.update(zip(keys, limits[:3] + limits[5:] + limits[3:5]))
        event["policies"] = ", ".join(name for bit, name in enumerate(STATED_POLICIES) if body[at] >> bit & 1)
        check(body[at] < 16 and keyed(body, at + 1)[1] == len(body), "bytes behind stated rules")
    elif kind in (16, 17, 18, 24, 25):
        event["zone"], at = varint(body, 0)
        if (4, event["zone"]) in names:
            event["zoneName"] = names[4, event["zone"]]
        if kind < 24:
            event["type"], at = varint(body, at)
            if (5, event["type"]) in names:
                event["typeName"] = names[5, event["type"]]
            event["record"], at = string(body, at)
        if kind == 16:
            event.update(saved(body, at, names))
        elif kind == 17:
            event.update(deleted(body, at))
        elif kind == 18:
            event.update(erased(body, at))
        elif kind >= 24:
            event.update(zone(kind, body, at))
    return event


def envelope(payload, names):
    check(payload[0] == 1, "envelope version", payload[0])
    length, at = varint(payload, 1)
    fields, limit = {}, at + length
    while at < limit:
        key, at = varint(payload, at)
        length, at = varint(payload, at)
        check(key % 2 or key in (2, 4), "unknown header field", key)
        fields[key // 2] = payload[at:at + length]
        at += length

    def value(field):
        return varint(fields[field], 0)[0] if field in fields else 0

    def named(table, index, what):
        return table[index] if index < len(table) else f"unknown {what} {index}"

    events = []
    count, at = varint(payload, at)
    for _ in range(count):
        kind, at = varint(payload, at)
        length, at = varint(payload, at)
        events.append(event_fields(kind, payload[at:at + length], names))
        at += length
    check(at == len(payload), "bytes behind the last event")
    line = {"user": value(1)}
    if (1, value(1)) in names:
        line["userName"] = names[1, value(1)]
    line["device"] = value(2)
    if (2, value(2)) in names:
        line["deviceName"] = names[2, value(2)]
    line.update(operationID=fields.get(3, b"").decode(), operationKind=named(OPERATIONS, value(4), "operation"),
                qualityOfService=named(QUALITIES, value(5), "quality"), groupID=fields.get(6, b"").decode(),
                groupName=fields.get(7, b"").decode())
    if 8 in fields:
        line["requestShape"] = fields[8].hex()
    if 10 in fields:
        line["judgedOn"] = value(10)
    if value(11) in ACTORS:
        line["actorKind"] = ACTORS[value(11)]
    line.update(lazy=value(9) == 1, events=events)
    return line


def frames(path, size, salt, newest):
    """Yields (kind, codec, offset, id, time, raw length, chain, body) up to the seal or the newest segment's end."""
    data = open(path, "rb").read()
    while True:
        head = data[size:size + 64]
        if newest and not any(head):
            return
        try:
            check(head[:4] == b"StFr", path, size, "no frame")
            check(len(head) == 64, path, size, "the file ends inside a frame")
            kind, codec, flags, offset, id, time, raw, stored, chain, _, body_sum, head_sum = struct.unpack(
                "<4xBBHQ16sqIIIIII", head)
            check(crc32c(salt + struct.pack("<Q", size) + head[:60]) == head_sum, path, size, "header checksum")
            check(1 <= kind <= 4 and codec <= 1 and flags & 255 == 0, path, size, "kind, codec or flags unknown")
            body = data[size + 64:size + 64 + (stored + 7) // 8 * 8]
            check(raw <= 4 << 20 and len(body) >= stored, path, size, "impossible length")
            check(crc32c(body) == body_sum, path, size, "body checksum")
        except Damage:
            if newest:
                return  # not yet: somebody may be writing it
            raise
        yield kind, codec, offset, id, time, raw, chain, body[:stored]
        if kind == 3:
            return
        size += 64 + len(body)


def blocks(path, size, salt):
    """Yields (kind, flags, first, count, chain, time, body) of every block of a sealed segment."""
    data = open(path, "rb").read()
    while size < len(data):
        head = data[size:size + 48]
        check(head[:4] == b"StBk" and len(head) == 48, path, size, "no block")
        kind, codec, flags, first, count, raw, stored, chain, time, body_sum, head_sum = struct.unpack(
            "<4xBBHQIIIIqII", head)
        check(crc32c(salt + struct.pack("<Q", size) + head[:44]) == head_sum, path, size, "header checksum")
        check(1 <= kind <= 6 and codec <= 1 and flags & 255 <= (kind == 1), path, size, "kind, codec or flags unknown")
        body = data[size + 48:size + 48 + (stored + 7) // 8 * 8]
        check(len(body) >= stored and crc32c(body) == body_sum, path, size, "body checksum")
        size += 48 + len(body)
        body = lz4_block(body[:stored]) if codec == 1 else body[:stored]
        check(len(body) == raw and (kind == 6) == (size == len(data)), path, size, "raw length or end")
        if kind == 6:
            check(number(body[8:]) == size, path, "the file's length at its end")
        yield kind, flags, first, count, chain, time, body


def sealed_commits(path, size, salt, end, chain, now):
    """Yields (offset, id, time, chain, payload) of a sealed segment that begins behind offset `end`."""
    for kind, flags, first, count, value, time, body in blocks(path, size, salt):
        if kind == 6:
            check((first, value, time) == (end, chain, now), path, "the end does not follow")
        if kind != 1:
            continue
        check((first, value) == (end + 1, chain) and time >= now, path, "a block does not follow")
        wide, end_wide = body[0] & 15, body[0] >> 4
        times, chains = 1 + 16 * count, 1 + (16 + wide) * count
        ends = chains + 4 * count
        payloads, originals = ends + end_wide * count, {}
        if flags & 1:
            at, payloads = payloads + 4, payloads + 4 + 16 * number(body[payloads:payloads + 4])
            for place in range(at, payloads, 16):
                index, *original = struct.unpack_from("<IQI", body, place)
                originals[index] = original
        start = payloads
        for index in range(count):
            id = body[1 + 16 * index:17 + 16 * index]
            when = time + number(body[times + wide * index:times + wide * (index + 1)])
            stop = payloads + number(body[ends + end_wide * index:ends + end_wide * (index + 1)])
            value = number(body[chains + 4 * index:chains + 4 * index + 4])
            payload, start = body[start:stop], stop
            length, checksum = originals.get(index, (len(payload), None))
            end, running = end + 1, crc32c(struct.pack("<IQqQ", chain, end + 1, when, length))
            running = crc32c(payload, running) if checksum is None else crc32c_over(length, checksum, running)
            check(when >= now and running == value, path, "time or chain at offset", end)
            chain, now = value, when
            yield end, id, now, chain, payload
        check(start == len(body), path, "bytes behind the payloads")


def commits(store):
    """Yields (offset, id, time, chain, payload), checking sequence and chain across segments."""
    _, _, identity = header_block(open(f"{store}/STORE", "rb").read(), b"StrataSt")
    end, chain, now = 0, 0, -1 << 63
    if os.path.exists(f"{store}/log/FLOOR"):
        _, _, floor = header_block(open(f"{store}/log/FLOOR", "rb").read(), b"StrataFl")
        check(floor[1] == identity[1], "FLOOR of another store")
        end, chain, now = number(floor[2]), number(floor[3]), number(floor[6], signed=True)
    names = sorted(name for name in os.listdir(f"{store}/log") if len(name) == 24 and name.endswith(".seg"))
    names = [name for name, after in zip(names, names[1:] + [None]) if not after or int(after[:-4]) > end + 1]
    for name in names:
        path = f"{store}/log/{name}"
        size, salt, header = header_block(open(path, "rb").read(4096), b"StrataSg")
        check(header[1] == identity[1], path, "segment of another store")
        check(number(header[2]) == int(name[:-4]) == end + 1 and number(header[3]) == chain, path, "does not follow")
        check(number(header[4]) in (1, 2) and number(header[6], signed=True) == now, path, "another form or time")
        if number(header[4]) == 2:
            for commit in sealed_commits(path, size, struct.pack("<I", salt), end, chain, now):
                (end, _, now, chain, _) = commit
                yield commit
            continue
        parts, sealed = [], False
        salt, newest = struct.pack("<I", salt), name == names[-1]
        for kind, codec, offset, id, time, raw, value, body in frames(path, size, salt, newest):
            if kind in (3, 4):
                check((offset, value, time) == (end, chain, now), path, "seal or mark does not follow")
                sealed = kind == 3
                continue
            check(offset == end + 1 and time >= now, path, "offset or time out of sequence")
            whole, index, count = struct.unpack_from("<QII", body) if kind == 2 else (raw, 0, 1)
            piece = body[16:] if kind == 2 else body
            piece = lz4_block(piece) if codec == 1 else piece
            check(len(piece) == raw and index == len(parts), path, "raw length or part index")
            running = crc32c(struct.pack("<IQqQ", chain, offset, time, whole)) if index == 0 else running
            running = crc32c(piece, running)
            check(running == value, path, "chain at offset", offset)
            parts.append(piece)
            if len(parts) < count:
                continue
            payload, parts, end, chain, now = b"".join(parts), [], offset, value, time
            check(len(payload) == whole, path, "length of the payload")
            yield offset, id, time, chain, payload
        check(sealed or newest, path, "not sealed")


def main(store):
    names = {}
    for offset, id, time, chain, payload in commits(store):
        line = {"offset": offset, "id": id.hex(), "time": time, "chain": f"{chain:08x}", "bytes": len(payload)}
        line.update(envelope(payload, names))
        sys.stdout.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    try:
        main(sys.argv[1])
    except (Damage, OSError, struct.error, IndexError, UnicodeDecodeError) as problem:
        sys.exit(f"read_log.py: {problem}")
