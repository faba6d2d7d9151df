import StrataLog
import StrataModel
import StrataSystem

extension FuzzBodies {
    /// Any bytes as the raw bodies of a sealed segment's blocks, with headers, lengths and checksums that fit: what the
    /// index, tables, change lists, filters and names say is what matters. Reading gives something or throws.
    ///
    /// The input is one block after another: kind (1 byte), number of things in it (1 byte), length of the body (2
    /// bytes), body. The last one should be an index; the end is added.
    /// - Returns: how many commits were read in order; nil if the segment was refused.
    @discardableResult
    package static func sealed(_ input: UnsafeRawBufferPointer) -> UInt64? {
        let blocks = SealedLayout(input).bytes
        repair(FuzzedStore(blocks: blocks))
        let store = FuzzedStore(blocks: blocks)
        let touches: TouchFunction = { _ in [] }
        guard let reader = try? LogReader.open(at: "s", platform: store.platform, touches: touches) else { return nil }
        for zone in UInt64(0)..<6 {
            _ = try? reader.touches(zone: zone, after: 0, limit: 10)
            _ = try? reader.touches(zone: zone, after: 2, limit: 1)
            _ = try? reader.touches(record: [65], in: zone, after: 0, limit: 3)
        }
        for offset in UInt64(1)..<6 {
            _ = try? reader.commit(at: offset)
            _ = try? reader.chain(at: offset)
            _ = try? reader.firstOffset(notBefore: Int64(offset))
        }
        guard var cursor = try? reader.read(from: 1) else { return 0 }
        var count: UInt64 = 0
        while let commit = try? cursor.next() {
            let single = try? reader.commit(at: commit.offset)
            precondition(single == commit, "a commit reads the same alone and in order")
            count += 1
        }
        return count
    }

    /// Puts raw bodies into blocks as docs/format.md §25 has them.
    private struct SealedLayout {
        private static let salt = FuzzedStore.blocksHeader.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
        }

        private(set) var bytes: [UInt8] = []
        private var nextOffset: UInt64 = 1
        private var chain: UInt32 = 0
        private var indexPlace = 0

        init(_ input: UnsafeRawBufferPointer) {
            var rest = input[...]
            while rest.count >= 4 {
                let head = Array(rest.prefix(4))
                let body = Array(rest.dropFirst(4).prefix(Int(head[2]) | Int(head[3]) << 8))
                rest = rest.dropFirst(4 + body.count)
                if head[0] == 5 { indexPlace = FuzzedStore.headerBytes + bytes.count }
                append(kind: head[0], count: UInt32(head[1]), first: head[0] == 1 ? nextOffset : 0, body)
                guard head[0] == 1 else { continue }
                nextOffset += UInt64(head[1])
                chain = Self.lastChain(body, count: Int(head[1])) ?? chain
            }
            var end = ByteWriter()
            end.append(UInt64(indexPlace))
            end.append(UInt64(FuzzedStore.headerBytes + bytes.count + 64))
            append(kind: 6, count: UInt32(truncatingIfNeeded: nextOffset - 1), first: nextOffset - 1, end.bytes)
        }

        /// What the table says, so that blocks follow one another.
        private static func lastChain(_ body: [UInt8], count: Int) -> UInt32? {
            guard let widths = body.first, count > 0 else { return nil }
            let place = 1 + count * (16 + Int(widths & 15)) + (count - 1) * 4
            guard place + 4 <= body.count else { return nil }
            return body.withUnsafeBytes {
                UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: UInt32.self))
            }
        }

        private mutating func append(kind: UInt8, count: UInt32, first: UInt64, _ body: [UInt8]) {
            var block = ByteWriter()
            block.append(bytes: "StBk".utf8)
            block.append(bytes: [kind, 0, 0, 0])
            block.append(first)
            block.append(count)
            block.append(UInt32(body.count))
            block.append(UInt32(body.count))
            block.append(kind == 1 || kind == 6 ? chain : 0)
            block.append(Int64(0))
            var padded = body
            padded += repeatElement(0, count: (8 - body.count % 8) % 8)
            block.append(padded.withUnsafeBytes { CRC32C.checksum($0) })
            var checksum = CRC32C()
            checksum.update(Self.salt)
            checksum.update(UInt64(FuzzedStore.headerBytes + bytes.count))
            block.bytes.withUnsafeBytes { checksum.update($0) }
            block.append(checksum.value)
            bytes += block.bytes + padded
        }
    }
}
