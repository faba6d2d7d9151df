import StrataModel
import StrataSystem

/// A piece of a store's file split into fields: a header block, a frame, a block, or bytes that are none of these.
///
/// ```swift
/// try SegmentByteLayout(path: "Notes.strata/log/00000000000000000001.seg").walk { anatomy in
///     print(anatomy.title, anatomy.fields.count)
///     return true
/// }
/// ```
package struct ByteLayout: Sendable, Equatable {
    /// Bytes with one meaning.
    package struct Field: Sendable, Equatable {
        package var count: Int
        package var what: String
    }

    package var title: String
    /// The position of the piece in the file.
    package var position: Int
    package var bytes: [UInt8]
    /// Together as long as `bytes`. Bytes of unknown meaning form one field without a description.
    package var fields: [Field]
    /// The offsets of the commits that the piece holds, wholly or in part.
    package var offsets: ClosedRange<UInt64>?
}

extension [ByteLayout.Field] {
    static func unknown(_ count: Int) -> Self { count == 0 ? [] : [.init(count: count, what: "")] }
}

extension ByteLayout {
    /// Takes apart `STORE`, `FLOOR`, or the header of a segment or base.
    package static func headerBlock(
        of path: String, files: any FileSystem = RealFileSystem()
    ) throws -> ByteLayout {
        let bytes = try files.readAll(path, atMost: LogFormat.headerBlockMaximumBytes)
        return headerBlock(bytes, path: path)
    }

    static func headerBlock(_ head: [UInt8], path: String) -> ByteLayout {
        let magic = String(decoding: head.prefix(8), as: UTF8.self)
        do {
            let block = try HeaderBlock(decoding: head, magic: magic, path: path)
            let size = Int(head[10]) | Int(head[11]) << 8
            var fields: [Field] = [
                .init(count: 8, what: "magic \(magic)"), .init(count: 2, what: "format version \(LogFormat.version)"),
                .init(count: 2, what: "size of the block: \(size)"),
                .init(count: 4, what: "checksum of the block, with these four bytes as zero"),
            ]
            for field in block.fields {
                fields.append(
                    .init(count: 4, what: "tag \(field.tag), \(field.value.count) bytes"))
                fields.append(.init(count: field.value.count, what: Self.text(of: field, in: magic)))
                let padding = (4 - field.value.count % 4) % 4
                if padding > 0 { fields.append(.init(count: padding, what: "padding")) }
            }
            let rest = size - fields.reduce(0) { $0 + $1.count }
            if rest > 0 { fields.append(.init(count: rest, what: "zeros: the end of the list")) }
            return ByteLayout(title: "header", position: 0, bytes: Array(head.prefix(size)), fields: fields)
        } catch {
            let bytes = Array(head.prefix(LogFormat.segmentHeaderBytes))
            let problem = (error as? StrataError)?.message ?? "\(error)"
            return ByteLayout(
                title: "a header that cannot be read: \(problem)", position: 0, bytes: bytes,
                fields: .unknown(bytes.count))
        }
    }

    private static func text(of field: HeaderBlock.Field, in magic: String) -> String {
        func number() -> UInt64 { field.value.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        switch (magic, field.tag) {
        case (_, 1): return "store id"
        case (LogFormat.storeMagic, 2):
            return "container identifier \(String(decoding: field.value, as: UTF8.self))"
        case (LogFormat.storeMagic, 3): return "created \(number())"
        case (LogFormat.segmentMagic, 2): return "first offset \(number())"
        case (LogFormat.segmentMagic, 3):
            return "chain value before: \(hexadecimal(UInt32(truncatingIfNeeded: number())))"
        case (LogFormat.segmentMagic, 4): return "form \(number())"
        case (LogFormat.segmentMagic, 5): return "segment id"
        case (LogFormat.segmentMagic, 7 | HeaderBlock.Field.optionalBit): return "bytes as frames \(number())"
        case (LogFormat.segmentMagic, 6):
            let time = Int64(bitPattern: number())
            return time == Int64.min ? "time before: none" : "time before: \(time)"
        case (LogFormat.floorMagic, 6), (LogFormat.baseMagic, 6): return "time \(Int64(bitPattern: number()))"
        case (LogFormat.floorMagic, 2): return "floor \(number())"
        case (LogFormat.floorMagic, 3):
            return "chain value at the floor: \(hexadecimal(UInt32(truncatingIfNeeded: number())))"
        case (LogFormat.floorMagic, 7): return "\(number()): a base replaces the compacted commits"
        case (LogFormat.baseMagic, 2): return "horizon \(number())"
        case (LogFormat.baseMagic, 3):
            return "chain value at the horizon: \(hexadecimal(UInt32(truncatingIfNeeded: number())))"
        case (LogFormat.baseMagic, 5): return "base id"
        default: return "unknown field"
        }
    }
}
