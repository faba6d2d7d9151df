import StrataModel
import TestSupport
import Testing

@Suite("docs/format.md says what the code does: envelopes and events")
struct FormatPageTests {
    private let page: FormatPage

    init() throws { page = try FormatPage() }

    @Test("§6 The envelope version")
    func envelopeVersion() {
        #expect(page.table(0, ofSection: 6).first == ["1", "envelope version: \(Envelope.version)"])
    }

    @Test("§6 Header fields: number, whether optional, default")
    func headerFields() throws {
        let headers: [String: EnvelopeHeader] = [
            "user": .init(user: 5), "device": .init(device: 5), "operation id": .init(operationID: "\u{5}"),
            "operation kind": .init(operationKind: .init(rawValue: 5)),
            "quality of service": .init(qualityOfService: .init(rawValue: 5)),
            "operation group id": .init(groupID: "\u{5}"),
            "operation group name": .init(groupName: "\u{5}"), "shape of the request": .init(requestShape: [5]),
            "1": .init(isLazy: true), "state judged on": .init(judgedOn: 5),
            "kind of an actor who has no ordinal": .init(actorKind: .user),
        ]
        let rows = page.table(1, ofSection: 6)
        #expect(rows.count == headers.count)
        for row in rows {
            try #require(row.count == 5)
            let name = String(row[4].prefix { !",;:".contains($0) })
            let header = try #require(headers[name], "\(name)")
            let number = try #require(UInt8(row[0]))
            try #require(["yes", "no"].contains(row[1]))
            let payload = Envelope(header: header, events: [Event(.fetched, body: [])]).encoded()
            let key = number * 2 + (row[1] == "yes" ? 1 : 0)
            let isOne = header.isLazy || header.actorKind == .user
            #expect(payload[..<5] == [1, 3, key, 1, isOne ? 1 : 5], "\(name)")
        }
    }

    @Test("§6 Operation kinds and qualities of service")
    func numberedNames() throws {
        let rows = page.table(1, ofSection: 6)
        let kinds = try numbered(in: rows[3][4])
        #expect(kinds.map(\.number) == Array(0..<11))
        for (number, name) in kinds {
            #expect(EnvelopeHeader.OperationKind(rawValue: number).description == name)
        }
        #expect(EnvelopeHeader.OperationKind(rawValue: 11).description == "unknown operation 11")
        let qualities = try numbered(in: rows[4][4])
        #expect(qualities.map(\.number) == Array(0..<5))
        for (number, name) in qualities {
            #expect(EnvelopeHeader.QualityOfService(rawValue: number).description == name)
        }
        #expect(EnvelopeHeader.QualityOfService(rawValue: 5).description == "unknown quality 5")
        #expect(kinds[Int(EnvelopeHeader.OperationKind.modifyRecords.rawValue)].name == "modify records")
        #expect(qualities[Int(EnvelopeHeader.QualityOfService.utility.rawValue)].name == "utility")
    }

    @Test("§7 Kinds of events")
    func eventKinds() throws {
        let rows = page.table(0, ofSection: 7)
        let known = EventKind.known.map { ["\($0.kind.rawValue)", $0.name] }
        #expect(rows.map { Array($0.prefix(2)) } == known)
        for (kind, name) in EventKind.known {
            #expect(kind.description == name)
            #expect(kind.isAudit == (kind.rawValue >= 128))
        }
        #expect(EventKind(rawValue: 3).description == "unknown event 3")
        #expect(EventKind(rawValue: 127).isAudit == false)
    }

    @Test("§7 Which events touch")
    func touchKinds() throws {
        let rows = page.table(1, ofSection: 7)
        var documented: [UInt64: UInt8] = [:]
        for row in rows {
            let kind = try #require(UInt8(row[0].prefix { $0 != " " }))
            for event in row[1].split(separator: ",") {
                documented[try #require(UInt64(event.drop { $0 == " " }))] = kind
            }
        }
        #expect(rows.count == Touch.Kind.allCases.count)
        for number in UInt64(0)..<200 {
            let payload = Envelope(events: [Event(EventKind(rawValue: number), body: [1, 1, 0])]).encoded()
            let touches = try payload.withUnsafeBytes { try Envelope.touches(of: $0) }
            #expect(touches.first?.kind.rawValue == documented[number], "event \(number)")
        }
    }

    @Test("§8 Namespaces and scopes")
    func namespaces() throws {
        let rows = page.table(0, ofSection: 8)
        let listed = try numbered(in: String(rows[0][1].drop { $0 != ":" }.dropFirst(2)))
        #expect(listed.map(\.name) == ["user", "device", "database", "zone", "record type", "field"])
        let names: [InternedName.Name] = [
            .user(""), .device(user: 1, ""), .database(.public, owner: 0), .zone(database: 1, owner: 1, ""),
            .recordType(""), .field(""),
        ]
        #expect(listed.map(\.number) == names.map { UInt64($0.namespace.rawValue) })
        let scopes = InternedName.Scope.allCases.map { "\($0.rawValue) \($0)" }.joined(separator: ", ")
        #expect(rows[2][1].contains("(1 byte: \(scopes))"))
    }

    @Test("§14 Limits")
    func limits() throws {
        let rows = page.table(0, ofSection: 14)
        let limits = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        #expect(limits["offset"] == "1…2⁴³−1")
        #expect(Version.maximumOffset == 8_796_093_022_207)
        #expect(limits["events in one commit"] == "1,048,576")
        #expect(Envelope.maximumEventCount == 1_048_576)
        #expect(limits["operation id, group id, group name"] == "\(EnvelopeHeader.maximumTextBytes) bytes each")
        #expect(limits["name of a record, zone, type, field, user, device"]?.hasPrefix("4,096 bytes") == true)
        #expect(Envelope.maximumNameBytes == 4_096)
    }

    /// `a text: 0 this, 1 that` as pairs of number and name.
    private func numbered(in text: String) throws -> [(number: UInt64, name: String)] {
        let list = text.contains(": ") ? text.drop { $0 != ":" }.dropFirst(2) : text[...]
        return try list.split(separator: ",").map { part in
            let words = part.split(separator: " ")
            return (try #require(UInt64(words[0])), words.dropFirst().joined(separator: " "))
        }
    }
}
