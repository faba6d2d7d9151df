import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("docs/format.md says what the code does: values, states, events")
struct RecordFormatPageTests {
    private let page: FormatPage

    init() throws { page = try FormatPage() }

    @Test("§16 Kinds of values")
    func valueKinds() throws {
        let rows = page.table(0, ofSection: 16)
        for row in rows {
            #expect(FieldKind(rawValue: try #require(UInt8(row[0]))).description == row[1])
        }
        #expect(rows.count == 8 && FieldKind(rawValue: 9).description.hasPrefix("unknown"))
        let text = page.section(16).joined(separator: " ")
        #expect(text.contains("the single byte `\(hexText([FieldKind.emptyList.rawValue]))`"))
        #expect(FieldKind.sealed.rawValue == 0x80 | 1 && text.contains("1 is XChaCha20-Poly1305"))
        #expect(text.contains("nonce (\(FieldValue.Sealed.nonceBytes) bytes)"))
        #expect(rows[7][2].contains("(\(FieldValue.Asset.hashBytes) bytes)"))
    }

    @Test("§16 Presence bits of a location")
    func presenceBits() throws {
        let rows = page.table(1, ofSection: 16)
        let paths: [(String, WritableKeyPath<FieldValue.Location, Double>)] = [
            ("altitude", \.altitude), ("horizontal accuracy", \.horizontalAccuracy),
            ("vertical accuracy", \.verticalAccuracy), ("course", \.course), ("speed", \.speed),
            ("timestamp", \.timestamp),
        ]
        #expect(rows.count == paths.count)
        for (row, (name, path)) in zip(rows, paths) {
            var location = FieldValue.Location(latitude: 0, longitude: 0)
            #expect(row[1].hasPrefix(name) && "\(Int(location[keyPath: path]))" == row[2].replacing("−", with: "-"))
            location[keyPath: path] = 77
            #expect(try FieldValue.location(location).encoded()[17] == 1 << (try #require(UInt8(row[0]))))
        }
    }

    @Test("§17 Places in a state")
    func statePlaces() throws {
        let state = RecordState(
            header: RecordHeader(
                version: Version(packed: 0x11), type: 0x22, created: 0x33, createdBy: 0x44, modified: 0x33 + 0x2B,
                modifiedBy: 0x66, modifiedWith: 0x77, eventsSinceFull: 0x08, contentDigest: 0x2A))
        var writer = ByteWriter()
        try state.encode(into: &writer)
        let rows = page.table(0, ofSection: 17)
        let firstBytes: [UInt8] = [2, 41, 0x11, 0x2A, 0x33]
        for (row, byte) in zip(rows, firstBytes) { #expect(writer.bytes[try #require(Int(row[0]))] == byte, "\(row)") }
        #expect(rows.prefix(5).map { $0[1] } == ["1", "2", "8", "16", "8"])
        #expect(writer.bytes[35...] == [0x56, 0x22, 0x44, 0x66, 0x77, 0x08, 0])
        #expect(rows[5][0] == "35" && rows[10][2].hasSuffix("0…\(RecordHeader.maximumEventsSinceFull)"))
    }

    @Test("§18 Keyed fields: numbers and whether optional")
    func keyedFields() throws {
        var keys: [UInt64: Set<UInt64>] = [:]
        for row in page.table(2, ofSection: 18) {
            for kind in row[0].split(separator: ",") {
                let number = try #require(UInt64(row[1]))
                keys[try #require(UInt64(kind.drop { $0 == " " })), default: []].insert(
                    number * 2 + (row[2] == "yes" ? 1 : 0))
            }
        }
        // Only what a body knows keeps a field with an unreadable value from being skipped, or being "newer".
        for (kind, known) in keys {
            let sample = try #require(EventSamples.all.first { type(of: $0.body).kind.rawValue == kind })
            let prefix = try Self.prefix(of: sample.body)
            for key in UInt64(2)..<40 {
                let field: [UInt8] = [UInt8(key), 2, 0x80, 0x00]
                let isMeasured = kind != EventKind.subscriptionSaved.rawValue
                let tail = kind == EventKind.recordSaved.rawValue ? [0] as [UInt8] : []
                let body = prefix + (isMeasured ? [UInt8(field.count)] : []) + field + tail
                let code = Self.code(EventKind(rawValue: kind), body)
                let isKnown = code != (key % 2 == 1 ? nil : .newerFormat)
                // A subscription has fields of its own beside the original version.
                if isMeasured || key == 2 { #expect(isKnown == Self.isJudged(known, key, kind), "\(kind), key \(key)") }
            }
        }
    }

    /// Texts and bytes take any value of those two bytes but invalid UTF-8, which `80 00` is.
    private static func isJudged(_ known: Set<UInt64>, _ key: UInt64, _ kind: UInt64) -> Bool {
        known.contains(key) && !takesAnyBytes(kind, key)
    }

    private static func takesAnyBytes(_ kind: UInt64, _ key: UInt64) -> Bool {
        switch EventKind(rawValue: kind) {
        case .requestRefused: key == 7
        case .nothingToDelete: key == 5
        case .fetched: [9, 11, 13].contains(key)
        default: false
        }
    }

    private static func code(_ kind: EventKind, _ body: [UInt8]) -> StrataError.Code? {
        thrownError { _ = try kind.body?.init(decoding: body[...]) }?.code
    }

    /// A body up to its keyed fields.
    private static func prefix(of body: any EventBody) throws -> [UInt8] {
        switch body {
        case is RecordSavedEvent: hex("01 01 01 61 10 00")
        case is RecordDeletedEvent, is RecordErasedEvent: hex("01 01 01 61 00")
        case is SubscriptionSavedEvent: hex("01 01 01 61 01")
        case is SchemaChangedEvent: hex("01 00")
        case is ShareSavedEvent: hex("01 01 01 61 00")
        case is MemberChangedEvent: hex("01 01 01 01 01")
        case is SharedRecordEvent: hex("01 01 01 61 01")
        case is ClientTokenEvent, is NotificationDeliveredEvent: hex("01 01 00")
        case is SubscriptionDeletedEvent: hex("01 01 01 61")
        case is UserRecordNamedEvent: hex("01 01 61")
        case is ZoneSavedEvent: hex("01 01 00 00")
        case is ZoneDeletedEvent: hex("01 01 00 01")
        case is FetchedEvent: hex("01 01 00 00 00")
        case is BaseMarkerEvent: hex("01") + [UInt8](repeating: 0, count: 36)
        case is RulesStatedEvent: hex("01 01 01 01 01 01 01")
        case is SecretDrawnEvent: hex("01") + [UInt8](repeating: 0, count: SecretDrawnEvent.byteCount)
        default: hex("01")
        }
    }

    @Test("§14 Limits of values, tables and bodies")
    func limits() {
        let limits = Dictionary(
            uniqueKeysWithValues: page.table(0, ofSection: 14).map { ($0[0], $0[1].filter { $0 != "," }) })
        #expect(limits["ordinal of a field"] == "1…2³²−1" && FieldTable.maximumOrdinal == 1 << 32 - 1)
        #expect(limits["fields of a record, or of one save"] == "\(FieldTable.maximumCount)")
        #expect(limits["one value"] == "32 MiB (\(FieldValue.maximumBytes) bytes)")
        #expect(limits["elements of a list"] == "\(FieldList.maximumCount)")
        #expect(limits["events since the last full one"] == "\(RecordHeader.maximumEventsSinceFull)")
        #expect(limits["client token"] == "\(ClientTokenEvent.maximumBytes) bytes")
        #expect(limits["predicate, text of a notification, message of a refusal"] == "65536 bytes each")
        #expect(Subscription.maximumPredicateBytes == 65_536 && NotificationInfo.maximumTextBytes == 65_536)
        #expect(RequestRefusedEvent.maximumMessageBytes == 65_536)
        #expect(limits["request kept with a refusal"] == "256 KiB (\(KeptRequest.maximumBytes) bytes)")
        #expect(limits["names in each table of a request; items of each list of it"] == "\(Request.maximumCount)")
    }

    @Test("§21 The worked record is what the code writes; STRATA_UPDATE_DOCS=1 puts it there")
    func example() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        let files = RealFileSystem()
        let content = String(decoding: try files.readAll(root + "/docs/format.md", atMost: 1 << 20), as: UTF8.self)
        let expected = RecordExample.begin + (try RecordExample().markdown()) + RecordExample.end
        let start = try #require(content.ranges(of: RecordExample.begin).first)
        let end = try #require(content.ranges(of: RecordExample.end).first)
        if getenv("STRATA_UPDATE_DOCS") != nil {
            let updated = content[..<start.lowerBound] + expected + content[end.upperBound...]
            return try files.replace(root + "/docs/format.md", in: root + "/docs", with: Array(updated.utf8))
        }
        #expect(content[start.lowerBound..<end.upperBound] == expected)
    }
}
