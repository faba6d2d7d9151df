import TestSupport
import Testing

@testable import StrataModel

@Suite("Field tables")
struct FieldTableTests {
    private func encode(_ changes: [FieldChange]) throws -> [UInt8] {
        var builder = FieldTableBuilder()
        for change in changes {
            if let value = change.value {
                try builder.append(change.field, value)
            } else {
                try builder.append([change])
            }
        }
        var writer = ByteWriter()
        builder.finish(into: &writer)
        return writer.bytes
    }

    private func withTable<Result>(_ bytes: [UInt8], _ body: (FieldTable) throws -> Result) throws -> Result {
        try bytes.withUnsafeBytes { try body(try FieldTable($0, in: 0..<$0.count)) }
    }

    @Test("A table has the bytes of the format; widths follow the last entry")
    func golden() throws {
        #expect(try encode([]) == [0])
        #expect(
            try hexText(encode([.init(1, .int64(1)), .init(7, nil)])) == "02 11 0107 0202 0202".filter { $0 != " " })
        #expect(try hexText(encode([.init(256, .int64(1))])) == "011200010202" + "02")
        #expect(try hexText(encode([.init(65_536, .double(0))])) == "0114000001000103")
        let long = try encode([.init(1, .data([UInt8](repeating: 7, count: 255)))])
        #expect(hexText(long.prefix(5)) == "0121010001")
    }

    @Test("Values are found by their field, whatever the others are")
    func lookup() throws {
        try withSeeds(300) { seed in
            var sample = SampleRecords(seed: seed)
            let changes = try sample.nextFields(removing: true)
            let values = Dictionary(uniqueKeysWithValues: changes.map { ($0.field, $0.value) })
            try withTable(try encode(changes)) { table in
                try #require(table.count == changes.count)
                try #require(try table.changes() == changes)
                for field in UInt32(0)...400 {
                    try #require(try table.value(of: field) == values[field] ?? nil)
                    try #require((table.index(of: field) != nil) == (values[field] != nil))
                }
            }
        }
    }

    @Test("The bits of the kinds tell tables that may have assets or encrypted values from all others")
    func kindBits() throws {
        let link = FieldValue.Reference(RecordKey(zone: 1, name: "a"), action: .none)
        let plain: [FieldValue] = [
            .string("a"), .int64(-1), .double(1), .date(1), .data([0xFF]),
            .location(.init(latitude: 1, longitude: 2)), .reference(link), .list(.empty),
        ]
        let asset = FieldValue.asset(.init(hash: ContentHash(first: 1, second: 2), size: 3))
        let sealed = FieldValue.Sealed(
            keyID: 1, nonce: [UInt8](repeating: 0, count: 24), ciphertext: [UInt8](repeating: 0, count: 16))
        let special: [FieldValue] = [asset, .list(try FieldList([asset])), .sealed(sealed)]
        func isSpecial(_ values: [FieldValue?]) throws -> Bool {
            let changes = values.enumerated().map { FieldChange(UInt32($0.offset + 1), $0.element) }
            return try withTable(encode(changes)) { try $0.kindBits() & FieldKind.specialBits != 0 }
        }
        let lists = try plain.dropLast().map { FieldValue.list(try FieldList([$0])) }
        try #expect(!isSpecial(plain + lists + [nil]))
        for value in special {
            try #expect(isSpecial([value]), "\(value.kind)")
            try #expect(isSpecial(plain + [value] + lists), "\(value.kind)")
        }
        // One of a kind that is not known yet is looked at closely.
        let bits = try withTable([2, 0x11, 1, 2, 3, 5, 9, 9, 9, 2, 4]) { try $0.kindBits() }
        #expect(bits & FieldKind.specialBits != 0)
    }

    @Test("A value of a kind of later versions is skipped, and an error only for who decodes it")
    func unknownKinds() throws {
        try withTable([2, 0x11, 1, 2, 3, 5, 9, 9, 9, 2, 4]) { table in
            try #expect(table.value(of: 2) == .int64(2))
            try #expect(table.kind(at: 0)?.description == "unknown value 9")
            #expect(thrownError { _ = try table.value(of: 1) }?.code == .newerFormat)
            #expect(thrownError { _ = try table.changes() }?.code == .newerFormat)
        }
    }

    @Test(
        "What the format forbids is refused",
        arguments: [
            ("", "the number of fields to be 1 bytes"), ("00 00", "a field table to be the end"),
            ("01", "the widths of a field table to be 1 bytes"), ("01 13 01", "the widths of a field table to be 1, 2"),
            ("01 31 01", "the widths of a field table to be 1, 2"), ("01 11", "the ordinals of fields to be 1 bytes"),
            ("01 11 01", "the ends of values to be 1 bytes"), ("01 11 01 02 03", "the last end to be 1"),
            ("01 11 01 00 03", "the last end to be 1"), ("01 12 0100 01 03", "the widths of a field table to be as"),
            ("01 21 01 0100 03", "the widths of a field table to be as"),
            ("808004", "the number of fields to be at most 65535"),
        ])
    func malformed(bytes: String, expected: String) throws {
        let error = thrownError { try withTable(hex(bytes)) { _ in } }
        #expect(error?.code == .malformed)
        #expect(error?.context.expected?.hasPrefix(expected) == true, "\(String(describing: error))")
    }

    @Test(
        "Ordinals that do not ascend and ends that fall are found by who goes through them",
        arguments: ["02 11 0201 0102 0303", "02 11 0101 0102 0303", "01 11 00 01 03", "02 11 0102 0201 03"])
    func disorder(bytes: String) throws {
        try withTable(hex(bytes)) { table in
            #expect(thrownError { _ = try table.changes() }?.code == .malformed)
            for field in UInt32(0)...3 { _ = try? table.value(of: field) }
        }
    }

    @Test("Limits, on both sides: fields and their ordinals")
    func limits() throws {
        let most = (1...UInt32(FieldTable.maximumCount)).map { FieldChange($0, .double(0)) }
        let bytes = try encode(most)
        try withTable(bytes) { try #expect($0.changes().count == 65_535) }
        #expect(thrownError { _ = try encode(most + [.init(65_536, nil)]) }?.code == .tooLarge)
        try withTable(try encode([.init(.max, .int64(1))])) { try #expect($0.value(of: .max) == .int64(1)) }
        for fields in [[0], [2, 1], [1, 1]] as [[UInt32]] {
            #expect(thrownError { _ = try encode(fields.map { .init($0, nil) }) }?.code == .invalidArgument)
        }
    }
}
