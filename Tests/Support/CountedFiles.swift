import Glibc
import StrataSystem

/// Files that count what is written to them, by the kind of file. Memory that is mapped for writing is not counted.
package struct CountedFiles: ForwardingFiles {
    package let files: any FileSystem
    private let state: Lock<WriteCounts>

    package init(_ files: any FileSystem) { self.init(files, Lock(WriteCounts())) }

    private init(_ files: any FileSystem, _ state: Lock<WriteCounts>) {
        self.files = files
        self.state = state
    }

    package var counts: WriteCounts { state.withLock { $0 } }

    package func forwarding(to file: any File) -> any File { CountedFile(file, state) }
    package func forwarding(to files: any FileSystem) -> any FileSystem { CountedFiles(files, state) }

    package func syncDirectory(_ directory: String) throws {
        try files.syncDirectory(directory)
        state.withLock { $0[.other].syncs += 1 }
    }
}

private final class CountedFile: ForwardingFile {
    let file: any File
    private let counts: Lock<WriteCounts>
    private let kind: WriteCounts.Kind
    /// The kind of the last write, whose sync the next one is: two threads have a segment open, one for the zeros.
    private let lastKind: Lock<WriteCounts.Kind>

    init(_ file: any File, _ counts: Lock<WriteCounts>) {
        self.file = file
        self.counts = counts
        kind = WriteCounts.Kind(path: file.path)
        lastKind = Lock(kind)
    }

    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
        let count = try file.writeSome(source, at: position)
        let kind = kind == .commits && isZero(source) ? .zeros : kind
        counts.withLock { counts in
            counts[kind].bytes += count
            counts[kind].writes += 1
        }
        lastKind.withLock { $0 = kind }
        return count
    }

    func syncData() throws {
        try file.syncData()
        let kind = lastKind.withLock { $0 }
        counts.withLock { $0[kind].syncs += 1 }
    }

    func shareContent(of source: any File) throws -> Bool {
        // The operating system must see its own file.
        try file.shareContent(of: (source as? CountedFile)?.file ?? source)
    }

    private func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.baseAddress, bytes.first == 0 else { return false }
        // Bytes that all equal their successor are all the same.
        return memcmp(first, first + 1, bytes.count - 1) == 0
    }
}
