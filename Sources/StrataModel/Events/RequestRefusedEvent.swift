/// An audit event of a rejected request, or a rejected part of it, with the reason.
package struct RequestRefusedEvent: RequestNote {
    package static let kind = EventKind.requestRefused
    package static let shownFields = ShownFields<Self> {
        Shown("code", "number of the error, as CKError has it, 2 if items were refused") { $0.code }
        Shown(after: "") { text(ofCode: $0.code) }
        Shown("message", "the message of the refusal", if: "if there was one", after: ": ") { $0.message }
        Shown("culprits", "the items that were refused") { $0.culprits }
        Shown(after: "; ") { $0.culprits.map(\.text).joined(separator: "; ") }
        Shown("asked", "the request in words, as far as kept", after: "; request: ") { $0.kept }
        Shown(
            "request", "the whole request (format.md, §19), in hexadecimal",
            if: "if it was kept, and has no URLs and addresses"
        ) { $0.kept.plainHexadecimal }
        Shown("requestBytes", "its length", if: "if it was not kept") { $0.kept.byteCount.nonzero }
    }
    package static let maximumMessageBytes = 65_536

    /// Returns the number of an error with its name: `14 server record changed`.
    package static func text(ofCode number: UInt64) -> String { "\(number) \(Refusal.Code(rawValue: number))" }

    /// An item that caused the rejection.
    package struct Culprit: Sendable, Hashable, Described {
        package static let title = "A refused item"
        package static let shownFields = ShownFields<Self> {
            Shown("list", "`saves` or `deletes`") { "\($0.list)" }
            Shown("index", "its place in the list") { $0.index }
            Shown("code", "number of its error") { $0.code }
            Shown("version", "that the store had", if: "if any") { $0.version }
        }
        fileprivate var text: String {
            "\(list) \(index): \(RequestRefusedEvent.text(ofCode: code))" + (version.map { ", has \($0.tag)" } ?? "")
        }

        package enum List: UInt8, Sendable, CaseIterable {
            case saves, deletes
        }

        package var list: List
        package var index: UInt64
        /// The code of the item's `CKError`.
        package var code: UInt64
        /// The stored version.
        package var version: Version?

        package init(_ list: List, index: UInt64, code: UInt64, version: Version? = nil) {
            self.list = list
            self.index = index
            self.code = code
            self.version = version
        }
    }

    package var code: UInt64
    package var message: String?
    package var kept: KeptRequest
    package var culprits: [Culprit]

    package init(code: UInt64, message: String? = nil, request: [UInt8]? = nil, culprits: [Culprit] = []) {
        self.code = code
        self.message = message
        kept = KeptRequest(request)
        self.culprits = culprits
    }

    private static let message: UInt64 = 5
    private static let request: UInt64 = 7
    private static let requestBytes: UInt64 = 9
    private static let culprits: UInt64 = 11

    package func encode(into writer: inout ByteWriter) throws {
        try StrataError.check("a message's bytes", count: message?.utf8.count ?? 0, atMost: Self.maximumMessageBytes)
        writer.appendVarint(code)
        writer.appendMeasured { writer in
            writer.appendField(Self.message, text: message)
            writer.appendField(Self.request, bytes: kept.bytes)
            writer.appendField(Self.requestBytes, kept.byteCount)
            guard !culprits.isEmpty else { return }
            writer.appendField(Self.culprits) { writer in
                for culprit in culprits {
                    writer.append(culprit.list.rawValue)
                    writer.appendVarint(culprit.index)
                    writer.appendVarint(culprit.code)
                    writer.appendVersion(culprit.version)
                }
            }
        }
    }

    package init(from reader: inout ByteReader) throws {
        self.init(code: try reader.readVarint("an error code"))
        var fields = try KeyedFields(from: &reader, "the fields of a refusal")
        while var field = try fields.next() {
            switch field.key {
            case Self.message: message = try field.text("a message", atMost: Self.maximumMessageBytes)
            case Self.request: kept.bytes = try field.bytes("a request", atMost: KeptRequest.maximumBytes)
            case Self.requestBytes: kept.byteCount = try field.number("a request's length")
            case Self.culprits: culprits = try Self.readCulprits(&field.value)
            default: try field.skip()
            }
        }
    }

    private static func readCulprits(_ reader: inout ByteReader) throws -> [Culprit] {
        var culprits: [Culprit] = []
        repeat {
            let list = try reader.read(UInt8.self, "an item's list")
            guard let list = Culprit.List(rawValue: list) else {
                throw reader.malformed("an item's list", expected: "0 or 1", found: "\(list)")
            }
            culprits.append(
                Culprit(
                    list, index: try reader.readVarint("an item's index"),
                    code: try reader.readVarint("an item's error"),
                    version: try reader.readVersion("an item's version")))
        } while reader.remaining > 0
        return culprits
    }
}
