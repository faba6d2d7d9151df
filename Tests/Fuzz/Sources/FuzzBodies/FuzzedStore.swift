import StrataModel
import StrataSystem
import Synchronization

/// A store in memory with one segment, whose frames are given.
struct FuzzedStore {
    static let headerBytes = 128
    static let salt =
        UInt32(segmentHeader[12]) | UInt32(segmentHeader[13]) << 8 | UInt32(segmentHeader[14]) << 16
        | UInt32(segmentHeader[15]) << 24

    private static let storeID = [UInt8](repeating: 7, count: 16)
    private static let segmentHeader = segmentHeader(form: 1)
    /// Of a sealed segment.
    static let blocksHeader = segmentHeader(form: 2)

    private static func segmentHeader(form: UInt8) -> [UInt8] {
        block(
            "StrataSg", size: headerBytes,
            [
                (1, storeID), (2, [1, 0, 0, 0, 0, 0, 0, 0]), (3, [0, 0, 0, 0]), (4, [form, 0, 0, 0]),
                (5, [UInt8](repeating: 9, count: 16)), (6, [0, 0, 0, 0, 0, 0, 0, 0x80]),
            ])
    }
    private static let identity = block(
        "StrataSt", size: 64, [(1, storeID), (2, Array("f".utf8)), (3, [UInt8](repeating: 0, count: 8))])

    let platform: Platform

    init(frames: [UInt8]) { self.init(segment: Self.segmentHeader + frames) }

    init(blocks: [UInt8]) { self.init(segment: Self.blocksHeader + blocks) }

    private init(segment: [UInt8]) {
        platform = Platform(
            files: FuzzedFiles(["s/STORE": Self.identity, "s/log/00000000000000000001.seg": segment]),
            time: ManualTime(microseconds: 1), random: SeededRandom(seed: 1))
    }

    /// A header block as docs/format.md §2 has it.
    private static func block(_ magic: String, size: Int, _ fields: [(tag: UInt16, value: [UInt8])]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(bytes: magic.utf8)
        writer.append(UInt16(1))
        writer.append(UInt16(size))
        writer.append(UInt32(0))
        for field in fields {
            writer.append(field.tag)
            writer.append(UInt16(field.value.count))
            writer.append(bytes: field.value)
            writer.pad(to: 4)
        }
        writer.pad(to: size)
        writer.overwrite(writer.bytes.withUnsafeBytes { CRC32C.checksum($0) }, at: 12)
        return writer.bytes
    }
}

/// Files in memory, as simple as they can be: no faults, no directories.
private final class FuzzedFiles: FileSystem {
    private let files: Mutex<[String: FuzzedFile]>

    init(_ contents: [String: [UInt8]]) {
        files = Mutex(Dictionary(uniqueKeysWithValues: contents.map { ($0, FuzzedFile($0, $1)) }))
    }

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
        try files.withLock { files in
            if let file = files[path] {
                if mode == .create || mode == .createPrivate {
                    throw StrataError.systemCall("open", path: path, errno: 17)
                }
                return file
            }
            if mode == .read || mode == .write { throw StrataError.systemCall("open", path: path, errno: 2) }
            let file = FuzzedFile(path, [])
            files[path] = file
            return file
        }
    }

    func exists(_ path: String) throws -> Bool { files.withLock { $0[path] != nil } }
    func makeDirectory(_ path: String) throws {}
    func syncDirectory(_ directory: String) throws {}
    func remove(_ path: String) throws { files.withLock { _ = $0.removeValue(forKey: path) } }

    func rename(_ source: String, to target: String) throws {
        files.withLock { $0[target] = $0.removeValue(forKey: source) }
    }

    func list(_ directory: String) throws -> [String] {
        files.withLock { files in
            files.keys.filter { $0.hasPrefix(directory + "/") }.map { String($0.dropFirst(directory.count + 1)) }
        }
    }
}

private final class FuzzedFile: File {
    let path: String
    private let bytes: Mutex<[UInt8]>

    init(_ path: String, _ bytes: [UInt8]) {
        self.path = path
        self.bytes = Mutex(bytes)
    }

    func size() throws -> Int { bytes.withLock { $0.count } }

    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int {
        let rest = bytes.withLock { Array($0.dropFirst(position).prefix(target.count)) }
        target.copyBytes(from: rest)
        return rest.count
    }

    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
        let source = [UInt8](source)
        bytes.withLock { bytes in
            if bytes.count < position + source.count {
                bytes += repeatElement(0, count: position + source.count - bytes.count)
            }
            bytes.replaceSubrange(position..<position + source.count, with: source)
        }
        return source.count
    }

    func truncate(to size: Int) throws {
        bytes.withLock { bytes in
            if bytes.count > size { bytes.removeLast(bytes.count - size) }
        }
    }

    func map(length: Int) throws -> any MappedMemory {
        throw StrataError(.invalidArgument, "These files cannot be mapped.", .init(path: path))
    }

    func syncData() throws {}
    func finishWriteback(_ range: Range<Int>) {}
    func allocate(_ range: Range<Int>) throws {}
    func tryLock() throws -> Bool { true }
    func close() {}
}
