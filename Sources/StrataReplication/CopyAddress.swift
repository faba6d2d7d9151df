import StrataLog
import StrataModel
import StrataSystem

/// The address of the sequencer that a copy follows, without passwords: the content of `SEQUENCER`
/// (docs/replication-internals.md §5).
package enum CopyAddress {
    private static let maximumBytes = 4_096

    /// Returns the address that is noted in a copy's directory; nil if there is none.
    package static func read(at path: String, _ files: any FileSystem = RealFileSystem()) throws -> String? {
        let path = StorePaths(path).sequencer
        guard try files.exists(path) else { return nil }
        let bytes = try files.readAll(path, atMost: maximumBytes + 1)
        guard bytes.count <= maximumBytes, bytes.last == UInt8(ascii: "\n"),
            let text = String(validating: bytes.dropLast(), as: UTF8.self), !text.isEmpty, !text.contains("\n")
        else {
            throw StrataError(
                .malformed, "The file with the address of the copy's sequencer is damaged; remove it.",
                .init(path: path, expected: "an address and a line break"))
        }
        return text
    }

    /// Notes an address, unless it is noted already.
    static func write(_ address: String, _ paths: StorePaths, _ files: any FileSystem) throws {
        if let noted = try? read(at: paths.store, files), noted == address { return }
        try files.replace(paths.sequencer, in: paths.store, with: Array((address + "\n").utf8))
    }
}
