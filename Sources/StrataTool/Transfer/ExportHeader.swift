import StrataModel

/// The first line of an export: its source, and the parts that are missing.
struct ExportHeader: Sendable, Equatable {
    static let format = "strata export"
    static let version: UInt64 = 1

    enum Content: String, Sendable { case commits, records }

    /// The base that precedes the commits, in place of compacted ones.
    struct Base: Sendable, Equatable {
        var horizon: Position
        /// The time of the commit at the horizon.
        var time: Int64
    }

    var content: Content
    var storeID: Identifier
    var container: String
    /// The offsets of the first and the last commit; for records, the offset of the state.
    var first: UInt64 = 0
    var last: UInt64 = 0
    var base: Base?
    /// True if the commits have no gap from the beginning of the store's history to the last one.
    var isGapless = true
    /// The reasons why the export is incomplete; empty if it is complete.
    var missing: [String] = []
    /// True if the store has files of assets, and keys of encrypted values. Exports contain neither.
    var hasAssets = false
    var hasKeys = false
    var zone: String?

    init(_ content: Content, storeID: Identifier, container: String) {
        (self.content, self.storeID, self.container) = (content, storeID, container)
    }

    var isComplete: Bool { missing.isEmpty }

    // MARK: Reading

    /// - Throws: ``StrataError`` for a line that is not an export header, or one of a later release.
    init(reading line: UnsafeRawBufferPointer) throws {
        self.init(.commits, storeID: .zero, container: "")
        var found: (format: String?, version: UInt64?, content: String?, isComplete: Bool?) = (nil, nil, nil, nil)
        var reader = JSONReader(line)
        try reader.readObject { key, reader in
            switch key {
            case "format": found.format = try reader.readString()
            case "version": found.version = try reader.readNumber(UInt64.self)
            case "content": found.content = try reader.readString()
            case "complete": found.isComplete = try reader.readBool()
            default: try read(key, &reader)
            }
        }
        try reader.expectEnd()
        guard found.format == Self.format else { throw Self.noExport(found.format) }
        guard found.version == Self.version else {
            throw StrataError(
                .newerFormat, "The export has another format version; use a release of Strata that can read it.",
                .init(expected: "\(Self.version)", found: found.version.map { "\($0)" }))
        }
        guard let content = found.content.flatMap(Content.init), found.isComplete == isComplete else {
            throw Self.noExport(found.content)
        }
        self.content = content
    }

    private static func noExport(_ found: String?) -> StrataError {
        StrataError(
            .wrongMagic, "The file is not an export of a store.",
            .init(expected: "\"format\":\"\(format)\"", found: found))
    }

    private mutating func read(_ key: String, _ reader: inout JSONReader) throws {
        switch key {
        case "storeID": storeID = try ImportedPayload.readIdentifier(&reader)
        case "container": container = try reader.readString()
        case "first": first = try reader.readNumber(UInt64.self)
        case "last": last = try reader.readNumber(UInt64.self)
        case "base": base = try Self.readBase(&reader)
        case "gapless": isGapless = try reader.readBool()
        case "missing": try reader.readArray { missing.append(try $0.readString()) }
        case "zone": zone = try reader.readString()
        case "assets": hasAssets = try reader.readBool()
        case "keys": hasKeys = try reader.readBool()
        default: try reader.skip()
        }
    }

    private static func readBase(_ reader: inout JSONReader) throws -> Base {
        var base = Base(horizon: .start, time: 0)
        try reader.readObject { key, reader in
            switch key {
            case "horizon": base.horizon.offset = try reader.readNumber(UInt64.self)
            case "chain": base.horizon.chain = try ImportedPayload.readHexadecimal(UInt32.self, &reader)
            case "time": base.time = try reader.readNumber(Int64.self)
            default: try reader.skip()
            }
        }
        guard (1...Version.maximumOffset).contains(base.horizon.offset) else { throw reader.error("a horizon") }
        return base
    }
}

extension ExportHeader: Shaped {
    static let shape = Shape<Self>("The first line of an export") {
        Key("format", "`strata export`") { _ in format }
        Key("version", "1") { _ in version }
        Key("content", "`commits` or `records`") { $0.content.rawValue }
        Key("storeID", "id of the store") { $0.storeID }
        Key("container", "its container identifier") { $0.container }
        Key("first", "the first offset that it may contain", if: "commits") { $0.content == .commits ? $0.first : nil }
        Key("last", "the last one, or for records the offset of their state") { $0.last }
        Key("base", "the base, whose payloads come next", if: "commits: if history was compacted") { $0.base }
        Key(
            "gapless", "true if it has all commits up to `last`", if: "commits"
        ) { $0.content == .commits ? $0.isGapless : nil }
        Key("complete", "true if nothing is missing") { $0.isComplete }
        Key("missing", "the parts that are missing") { $0.missing }
        Key("zone", "the zone that was selected", if: "with `--zone`") { $0.zone }
        Key("assets", "true if the store has files of assets, which are not in the export") { $0.hasAssets }
        Key("keys", "true if it has keys of encrypted values, which are not in the export") { $0.hasKeys }
    }
}

extension ExportHeader.Base: Shaped {
    static let shape = Shape<Self>("A base of an export") {
        Key("horizon", "the last commit that it represents") { $0.horizon.offset }
        Key("chain", "chain value there") { Hexadecimal($0.horizon.chain) }
        Key("time", "of that commit") { $0.time }
    }
}

/// The last line of an export. An export without it is incomplete.
struct ExportEnd: Sendable, Equatable {
    /// The number of commits or records before this line.
    var count: UInt64
    /// The position of the last commit; for records, of the state.
    var last: Position

    /// Reads the value of the key `end`, which is the first key of the line.
    init(behindKey reader: inout JSONReader) throws {
        guard try reader.readBool() else { throw reader.error("true") }
        self.init(count: 0, last: .start)
    }

    init(count: UInt64, last: Position) { (self.count, self.last) = (count, last) }

    mutating func read(_ key: String, _ reader: inout JSONReader) throws {
        switch key {
        case "count": count = try reader.readNumber(UInt64.self)
        case "last": last.offset = try reader.readNumber(UInt64.self)
        case "chain": last.chain = try ImportedPayload.readHexadecimal(UInt32.self, &reader)
        default: try reader.skip()
        }
    }
}

extension ExportEnd: Shaped {
    static let shape = Shape<Self>("The last line of an export") {
        Key("end", "true") { _ in true }
        Key("count", "how many commits or records it has") { $0.count }
        Key("last", "the last commit, or the state") { $0.last.offset }
        Key("chain", "chain value there") { Hexadecimal($0.last.chain) }
    }
}

extension LineReader {
    /// The error for an export without its last line.
    var truncation: StrataError {
        StrataError(.malformed, "The export is truncated: its last line is missing.", .init(path: path))
    }

    func disorder(_ expected: String, found: String) -> StrataError {
        StrataError(
            .brokenSequence, "The lines of the export are not in the expected sequence.",
            .init(path: path, expected: expected, found: found, line: number))
    }
}
