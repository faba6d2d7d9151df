import StrataModel

/// The worked record of docs/format.md §21: an event and the state that it makes, byte by byte.
struct RecordExample {
    static let begin = "<!-- record-example:begin -->"
    static let end = "<!-- record-example:end -->"

    private let event: [UInt8]
    private let state: [UInt8]

    init() throws {
        let saved = RecordSavedEvent(
            .create, RecordKey(zone: 1, name: "note-1"), type: 1, parent: .set(RecordKey(zone: 1, name: "list")),
            fields: [.init(1, .string("milk")), .init(2, .double(1.5))])
        event = Array(try saved.event().body)
        let place = EventPlace(
            version: Version(offset: 1, eventIndex: 1), time: 1_767_225_601_000_000, user: 1, device: 2)
        var (merger, writer) = (RecordMerger(), ByteWriter())
        try event.withUnsafeBytes { bytes in
            try merger.apply(
                try RecordSavedView(bytes, in: 0..<bytes.count), at: place, to: nil, into: &writer)
        }
        state = writer.bytes
    }

    func markdown() -> String {
        """

        The body of an event *record saved*, \(event.count) bytes:

        ```
        \(Self.lines(event, Self.eventParts))
        ```

        It is event 1 of commit 1, by user 1 with device 2. The state that comes of it, \(state.count) bytes:

        ```
        \(Self.lines(state, Self.stateParts))
        ```

        Its change tag is `\(Version(offset: 1, eventIndex: 1).tag)`, which is 1048577 in base 36.

        """
    }

    private static func lines(_ bytes: [UInt8], _ parts: [(count: Int, what: String)]) -> String {
        var (lines, place) = ([String](), 0)
        for part in parts {
            let digits = bytes[place..<place + part.count].map { hexText([$0]) }.joined(separator: " ")
            let number = String(repeating: " ", count: 4 - "\(place)".count) + "\(place)"
            lines.append("\(number)  \(digits)" + String(repeating: " ", count: 49 - digits.count) + part.what)
            place += part.count
        }
        precondition(place == bytes.count, "the example's parts are all of its bytes")
        return lines.joined(separator: "\n")
    }

    private static let tableParts: [(count: Int, what: String)] = [
        (1, "2 fields"), (1, "widths: ordinals 1 byte, ends 1 byte"), (2, "fields 1 and 2"), (2, "ends 5 and 8"),
        (5, "kind 1, string: milk"), (3, "kind 3, double: 3ff8000000000000 without zeros, 1.5"),
    ]

    private static let eventParts: [(count: Int, what: String)] =
        [
            (2, "zone 1, type 1"), (7, "record name: 6 bytes, note-1"), (1, "flags: create, full"),
            (1, "no previous version"), (1, "7 bytes of keyed fields"), (7, "field 7: key 14, 5 bytes: zone 1, list"),
        ] + tableParts

    private static let stateParts: [(count: Int, what: String)] =
        [
            (1, "form 2"), (2, "size of the header: 48"), (8, "version: offset 1, event 1"),
            (16, "digest of the content, not yet known"),
            (8, "created 1767225601000000"), (1, "modified 0 later"), (1, "type 1"), (1, "created by user 1"),
            (1, "modified by user 1"), (1, "with device 2"), (1, "the last event was full"),
            (7, "field 1: key 2, 5 bytes: parent in zone 1, list"),
        ] + tableParts
}
