import Testing

@testable import StrataModel

@Suite("Fields that bodies of events declare once, for text, JSON and its reference")
struct ShownFieldsTests {
    private static func keys<Value: Described>(of _: Value.Type) -> [String] {
        Value.shownFields.all.compactMap { $0.key?.description }
    }

    private static func keys<Value: Described>(of _: Value) -> [String] { keys(of: Value.self) }

    /// Returns the keys without a condition that a value has no content for.
    private static func missing<Value: Described>(of value: Value) -> [String] {
        Value.shownFields.all.filter { $0.condition == nil && $0.words == nil && $0.content(value) == nil }
            .compactMap { $0.key?.description }
    }

    /// Returns the described values in the lists of a value.
    private static func parts<Value: Described>(of value: Value) -> [any Described] {
        Value.shownFields.all.flatMap { field -> [any Described] in
            if case .list(let parts)? = field.content(value) { parts } else { [] }
        }
    }

    @Test("Every kind but a save, which tools show without its values, has fields with keys of their own")
    func keys() throws {
        for (kind, name) in EventKind.known {
            guard let body = kind.body else { continue }
            let keys = Self.keys(of: body)
            #expect(keys.isEmpty == (kind == .recordSaved), "\(kind)")
            #expect(Set(keys).count == keys.count, "\(kind)")
            #expect(body.title == name)
        }
    }

    @Test("A key without a condition is always present, and lists have values with keys of their own")
    func content() {
        var partTitles: Set<String> = []
        for (body, _) in EventSamples.all {
            #expect(Self.missing(of: body).isEmpty, "\(body)")
            for part in Self.parts(of: body) {
                partTitles.insert(type(of: part).title)
                #expect(Self.missing(of: part).isEmpty && !Self.keys(of: part).isEmpty, "\(part)")
            }
        }
        #expect(partTitles == ["A declared field", "A grant", "A refused item", "A requested record"])
        for name: InternedName.Name in [.user("u"), .device(user: 1, "d"), .database(.public, owner: 0), .field("f")] {
            #expect(Self.missing(of: InternedName(ordinal: 1, name: name)).isEmpty)
        }
    }

    @Test("No field of a secret has its bytes")
    func secrets() throws {
        #expect(Self.keys(of: SecretDrawnEvent.self) == ["secret"])
        #expect(!Self.keys(of: ShareSavedEvent.self).contains { $0.lowercased().contains("token") })
        var newer = try Request(database: DatabaseID(.private), .modifyZones(ModifyZonesRequest())).encoded()
        #expect(KeptRequest(newer).plainHexadecimal == hexadecimal(of: newer))
        // One that cannot be read may have some.
        newer[0] += 1
        #expect(KeptRequest(newer).plainHexadecimal == nil)
    }
}
