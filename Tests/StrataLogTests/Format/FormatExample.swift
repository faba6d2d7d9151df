import StrataModel
import StrataSystem
import TestSupport

@testable import StrataLog

/// The worked example of docs/format.md §9: a store with one commit, byte by byte. The same bytes every time.
struct FormatExample {
    static let begin = "<!-- example:begin -->"
    static let end = "<!-- example:end -->"

    private let identity: [UInt8]
    private let segment: [UInt8]
    private let commit: Commit

    init() throws {
        let disk = SimulatedDisk()
        let platform = Platform(
            files: disk, time: ManualTime(microseconds: 1_767_225_600_000_000), random: SeededRandom(seed: 1))
        let options = LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0, containerIdentifier: "iCloud.example")
        let log = try SegmentedLog.open(at: "/Example.strata", options: options, platform: platform)
        let envelope = try Envelope(
            header: EnvelopeHeader(user: 1, operationKind: .modifyRecords),
            events: [
                Event(.nameInterned, body: [5, 1] + [4] + "Note".utf8),
                RecordSavedEvent(.create, RecordKey(zone: 1, name: "note-1"), type: 1).event(),
            ])
        let id = Identifier(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
        let new = NewCommit(id: id, time: 1_767_225_601_000_000, payload: envelope.encoded()[...])
        _ = try log.append([new], expecting: .start)
        guard let commit = try log.commit(at: 1) else { throw Mismatch("the example has no commit") }
        self.commit = commit
        try log.close()
        identity = try disk.content(of: "/Example.strata/STORE")
        segment = try disk.content(of: "/Example.strata/log/00000000000000000001.seg")
    }

    /// What stands between the two markers of the page, without them.
    func markdown() throws -> String {
        var text = """
            A store that was made for the container `iCloud.example`, got one commit, and was closed. The commit has \
            id `\(commit.id)`,
            time \(commit.time), and a payload of \(commit.payload.count) bytes with two events.

            `STORE`, \(identity.count) bytes:


            """
        text += try block(identity, Self.storeFields, from: 0, count: identity.count)
        text += "\n`log/00000000000000000001.seg`, \(segment.count) bytes; first its header:\n\n"
        text += try block(segment, Self.segmentFields, from: 0, count: 128)
        let frames = SeenFrame.all(in: segment)
        guard frames.count == 2 else { throw Mismatch("the example has a commit and a mark") }
        text += "\nThe frame of the commit; its body is the payload:\n\n"
        let commitFields =
            Self.frameFields("1, a commit", undurable: "1: all before it has been synced") + Self.bodyFields
        text += try block(segment, commitFields, from: frames[0].position, count: frames[0].byteCount)
        text += "\nThe mark that closing wrote:\n\n"
        text += try block(
            segment, Self.frameFields("4, a mark", undurable: "0: all has been synced"), from: frames[1].position,
            count: 64)
        return text + """

            The chain value `\(hexadecimal(commit.chain))` is the checksum of 28 bytes and the payload: \
            \(hex(ReferenceChain.prefix(of: commit, after: 0))), then the payload.
            The position of the commit is 1/\(hexadecimal(commit.chain)).

            """
    }

    private func hex(_ bytes: some Sequence<UInt8>) -> String { "`" + bytes.map { hexadecimal($0) }.joined() + "`" }

    /// One line for each field: where it stands, its bytes, what they are. Long fields go on in further lines.
    private func block(
        _ bytes: [UInt8], _ fields: [(count: Int, what: String)], from start: Int, count: Int
    ) throws -> String {
        var lines = ["```"]
        var position = start
        for field in fields {
            var isFirst = true
            let limit = position + field.count
            while position < limit {
                let piece = bytes[position..<min(position + 16, limit)]
                let digits = piece.map { hexadecimal($0) }.joined(separator: " ")
                let padding = String(repeating: " ", count: 49 - digits.count)
                let place = String(position)
                lines.append(
                    String(repeating: " ", count: 4 - place.count) + place + "  "
                        + (isFirst ? digits + padding + field.what : digits))
                position += piece.count
                isFirst = false
            }
        }
        guard position == start + count else { throw Mismatch("the fields have \(position - start) of \(count) bytes") }
        return lines.joined(separator: "\n") + "\n```\n"
    }

    private static func prelude(_ magic: String, size: Int) -> [(count: Int, what: String)] {
        [
            (8, "magic \(magic)"), (2, "format version 1"), (2, "size of the block: \(size)"),
            (4, "checksum of the block, with these four bytes as zero"),
        ]
    }

    private static let storeFields: [(count: Int, what: String)] =
        prelude("StrataSt", size: 72) + [
            (4, "tag 1, 16 bytes"), (16, "store id"), (4, "tag 2, 14 bytes"),
            (14, "container identifier iCloud.example"),
            (2, "padding"), (4, "tag 3, 8 bytes"), (8, "created 1767225600000000, which is 2026-01-01T00:00:00Z"),
            (4, "zeros up to a multiple of 8: the end of the list"),
        ]

    private static let segmentFields: [(count: Int, what: String)] =
        prelude("StrataSg", size: 128) + [
            (4, "tag 1, 16 bytes"), (16, "store id"), (4, "tag 2, 8 bytes"), (8, "first offset 1"),
            (4, "tag 3, 4 bytes"),
            (4, "chain value before: 0"), (4, "tag 4, 4 bytes"), (4, "form 1: frames"), (4, "tag 5, 16 bytes"),
            (16, "segment id"), (4, "tag 6, 8 bytes"), (8, "time before: none"), (32, "zeros: the end of the list"),
        ]

    private static func frameFields(_ kind: String, undurable: String) -> [(count: Int, what: String)] {
        [
            (4, "magic StFr"), (1, "kind \(kind)"), (1, "codec 0, stored as is"), (2, "flags"), (8, "offset 1"),
            (16, "commit id"), (8, "time"), (4, "raw length"), (4, "stored length"), (4, "chain"),
            (4, "undurable \(undurable)"), (4, "body checksum"), (4, "header checksum"),
        ]
    }

    private static let bodyFields: [(count: Int, what: String)] = [
        (1, "envelope version 1"), (1, "6 bytes of header fields"), (3, "field 1: key 2, one byte: user 1"),
        (3, "field 4, optional: key 9, one byte: modify records"), (1, "2 events"),
        (2, "kind 1, name interned; 7 bytes"),
        (2, "record type, ordinal 1"), (5, "name: 4 bytes, Note"), (2, "kind 16, record saved; 13 bytes"),
        (2, "zone 1, type 1"), (7, "record name: 6 bytes, note-1"), (1, "flags: create, full"),
        (3, "no previous version, no keyed fields, no fields"), (7, "padding"),
    ]
}
