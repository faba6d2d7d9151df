import StrataModel
import StrataSystem

/// Writes the payloads of a base, one block each, into a file that has no readers yet.
struct BaseWriter: ~Copyable {
    private let header: BaseHeader
    private let file: any File
    private var writer: BlockWriter
    private var count: UInt64 = 0

    /// - Parameter file: an empty file.
    init(_ file: any File, storeID: Identifier, baseID: Identifier, horizon: Position, time: Int64) throws {
        let (header, bytes) = try BaseHeader.make(storeID: storeID, baseID: baseID, horizon: horizon, time: time)
        try file.write(bytes, at: 0)
        self.header = header
        self.file = file
        writer = BlockWriter(file, salt: header.salt, at: header.byteCount)
    }

    mutating func append(_ payload: ArraySlice<UInt8>) throws {
        guard payload.count <= LogFormat.maximumCommitBytes else {
            throw StrataError(
                .tooLarge, "A payload of a base exceeds the size limit of a commit.",
                .init(expected: "at most \(LogFormat.maximumCommitBytes) bytes", found: "\(payload.count)"))
        }
        var block = BlockHeader(kind: .state)
        block.first = count
        block.count = 1
        try writer.append(block, Array(payload))
        count += 1
    }

    /// Completes the file, which is durable on return.
    consuming func finish() throws {
        let position = writer.position
        var end = BlockHeader(kind: .end)
        end.first = header.horizon.offset
        end.count = UInt32(clamping: count)
        end.chain = header.horizon.chain
        end.time = header.time
        var body = ByteWriter(reserving: 16)
        body.append(count)
        body.append(UInt64(position + BlockHeader.endBlockBytes))
        try writer.append(end, body.bytes, compresses: false)
        try writer.flush()
        try file.sync()
    }
}
