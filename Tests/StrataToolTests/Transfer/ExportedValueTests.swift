import Foundation
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// What is exported of a value is all of it.
@Suite struct ExportedValueTests {
    private func json(_ body: (inout JSONWriter) throws -> Void) throws -> String {
        let directory = try TestDirectory()
        let path = directory.path("json")
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        let output = Output(descriptor: descriptor)
        var writer = JSONWriter(output)
        try body(&writer)
        try output.flush()
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    private static let link = FieldValue.Reference(RecordKey(zone: 7, name: "ünï\n\"\\"), action: .deleteSelf)

    static let values: [FieldValue] = [
        .string(""), .string("\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F} ü 😀 \u{2028}"), .int64(.min), .int64(.max), .int64(0),
        .double(0.1), .double(-0.0), .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude),
        .double(.infinity),
        .double(-.infinity), .double(.nan), .double(Double(bitPattern: 0xFFF8_0000_0000_0123)), .double(1e20),
        .date(-978_307_200.000001), .date(.nan), .data([]), .data([0]), .data([1, 2]), .data([255, 254, 253]),
        .location(
            .init(
                latitude: 48.1, longitude: -11.5, altitude: 1e-9, horizontalAccuracy: 5, verticalAccuracy: -1,
                course: .nan, speed: 2, timestamp: 0.25)),
        .reference(link), .reference(.init(RecordKey(zone: 7, name: "b"))), .list(.empty),
    ]

    @Test(arguments: values) func comesBack(_ value: FieldValue) throws {
        let text = try json { try ExportedValue { _ in nil }.write(value, to: &$0) }
        #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [String: Any], "\(text)")
        let back = try Array(text.utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            let value = try ExportedValue.read(&reader, zone: 7)
            try reader.expectEnd()
            return value
        }
        #expect(back == value, "\(text)")
    }

    @Test func lists() throws {
        for value in Self.values {
            guard !value.kind.isList else { continue }
            let list = FieldValue.list(try FieldList([value, value]))
            let text = try json { try ExportedValue { _ in nil }.write(list, to: &$0) }
            let back = try Array(text.utf8).withUnsafeBytes { bytes in
                var reader = JSONReader(bytes)
                return try ExportedValue.read(&reader, zone: 7)
            }
            #expect(back == list, "\(text)")
        }
    }

    @Test(arguments: [
        #"{"type":"string","value":1}"#, #"{"type":"int64","value":"1"}"#, #"{"type":"data","value":"AQ"}"#,
        #"{"type":"date","value":"now"}"#, #"{"type":"location","value":{"latitude":1}}"#, #"{"type":"string"}"#,
        #"{"type":"reference","value":{"record":"a","zone":"other"}}"#, #"{"type":"tune","value":"la"}"#,
        #"{"type":"asset","value":{}}"#, #"{"type":"encrypted","value":{}}"#, #"{"value":1,"type":"int64"}"#,
        #"{"type":"list of string","value":["a",2]}"#,
    ])
    func whatIsNoValue(_ text: String) {
        #expect(throws: StrataError.self) {
            try Array(text.utf8).withUnsafeBytes { bytes in
                var reader = JSONReader(bytes)
                _ = try ExportedValue.read(&reader, zone: 7)
            }
        }
    }
}

@Suite struct JSONReaderTests {
    private func read<Result>(_ text: String, _ body: (inout JSONReader) throws -> Result) throws -> Result {
        try Array(text.utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            let result = try body(&reader)
            try reader.expectEnd()
            return result
        }
    }

    @Test func texts() throws {
        for (json, text) in [
            (#""""#, ""), (#""a""#, "a"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u00e9\uD83D\uDE00\u0000""#, "é😀\u{0}"), ("\"é\"", "é"),
        ] {
            #expect(try read(json) { try $0.readString() } == text)
        }
    }

    @Test(arguments: [
        "\"", "\"a", #""\x""#, #""\u12""#, #""\uD83D""#, #""\uD83Dx""#, #""\uDE00""#, "\"\u{1}\"", "a", "", "\"\\",
        #""\u+041""#, #""\u-041""#, #""\u 041""#, #""\u004""#, #""\u00e""#, #""\uDE00\uD83D""#, #""\U0041""#, #""\""#,
    ])
    func whatIsNoText(_ json: String) {
        #expect(throws: StrataError.self) { try read(json) { try $0.readString() } }
    }

    @Test func bytesThatAreNoText() {
        #expect(throws: StrataError.self) {
            try [0x22, 0xFF, 0x22 as UInt8].withUnsafeBytes { bytes in
                var reader = JSONReader(bytes)
                _ = try reader.readString()
            }
        }
    }

    @Test func numbers() throws {
        #expect(try read(" -9223372036854775808 ") { try $0.readNumber(Int64.self) } == .min)
        #expect(try read("18446744073709551615") { try $0.readNumber(UInt64.self) } == .max)
        #expect(try read("-1.5e3") { try $0.readNumber(Double.self) } == -1_500)
        for json in ["18446744073709551616", "-1", "1.5", "x", "", "\"1\""] {
            #expect(throws: StrataError.self, "\(json)") { try read(json) { try $0.readNumber(UInt64.self) } }
        }
    }

    @Test func objectsAndArrays() throws {
        var keys: [String] = []
        try read(#" { "a" : [ 1 , { "x" : null } , [ ] , "]}" ] , "b" : true , "c" : { } } "#) { reader in
            try reader.readObject { key, reader in
                keys.append(key)
                try reader.skip()
            }
        }
        #expect(keys == ["a", "b", "c"])
        var sum = 0
        try read("[1,2,3]") { try $0.readArray { sum += try $0.readNumber(Int.self) } }
        #expect(sum == 6)
    }

    @Test(arguments: [
        "{", "{\"a\"}", "{\"a\":1", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "[1 2]", "[1,]", "tru", "nul", "{} {}", "{1:2}",
        String(repeating: "[", count: 100_000),
    ])
    func whatIsNoJSON(_ json: String) {
        #expect(throws: StrataError.self) { try read(json) { try $0.skip() } }
    }

    @Test func errorsNameThePlace() throws {
        let error = try #require(throws: StrataError.self) { try read("[1,x]") { try $0.skip() } }
        #expect(error.context.column == 4 && error.context.found == "'x'")
    }
}

@Suite struct Base64Tests {
    @Test func asEverybodyWritesIt() {
        var generator = SeededGenerator(seed: 5)
        for count in 0..<70 {
            let bytes = generator.nextBytes(count)
            let text = Base64.text(bytes)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Array(text.utf8).withUnsafeBytes { Base64.bytes($0) } == bytes)
        }
    }

    @Test(arguments: ["A", "AA", "AAA", "AA=", "A===", "====", "AB==", "AAB=", "AA==AAAA", "AA-_", "A A=", "AAAA="])
    func whatIsNone(_ text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { Base64.bytes($0) } == nil)
    }
}

@Suite struct LineReaderTests {
    private func lines(_ text: String) throws -> [String] {
        let directory = try TestDirectory()
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path("lines")))
        let reader = try LineReader(directory.path("lines"))
        var lines: [String] = []
        while let line = try reader.next({ String(decoding: $0, as: UTF8.self) }) { lines.append(line) }
        #expect(reader.number == lines.count)
        return lines
    }

    @Test func endsOfLines() throws {
        #expect(try lines("") == [] && lines("a") == ["a"] && lines("a\n") == ["a"])
        #expect(try lines("\n") == [""] && lines("a\n\nb") == ["a", "", "b"])
    }

    @Test func longLines() throws {
        let long = (0..<5).map { String(repeating: "\($0)", count: 256 << 10 + $0) }
        #expect(try lines(long.joined(separator: "\n")) == long)
    }
}
