import Glibc
import StrataModel
import StrataSystem

/// What tests do to a disk behind the program's back: on the medium and readable at once, past faults, hook and counts.
///
/// Adding or removing a file this way syncs its directory.
extension SimulatedDisk {
    /// Files that exist now, sorted.
    package var paths: [String] { state.withLock { $0.names.files.keys.sorted() } }

    package func content(of path: String) throws -> [UInt8] {
        try state.withLock { state in
            let inode = try state.existingInode(at: path)
            return Array(inode.live.bytes(0..<inode.size))
        }
    }

    /// Gives a file this content, and makes the file and its directories if need be.
    package func setContent(_ bytes: [UInt8], of path: String) {
        state.withLock { state in
            let name = SimulatedNames.normal(path)
            let inode = state.inode(at: name) ?? state.placeFile(name)
            inode.damage(size: 0)
            bytes.withUnsafeBytes { inode.damage($0, at: 0) }
        }
    }

    /// Overwrites, and extends the file if need be.
    package func overwrite(_ path: String, at position: Int, with bytes: [UInt8]) throws {
        try damage(path) { inode in bytes.withUnsafeBytes { inode.damage($0, at: position) } }
    }

    package func flipBit(_ path: String, byte position: Int, bit: Int) throws {
        try damage(path) { inode in
            let byte = inode.live.bytes(position..<position + 1)[0] ^ (1 << UInt8(bit))
            withUnsafeBytes(of: byte) { inode.damage($0, at: position) }
        }
    }

    package func truncateFile(_ path: String, to size: Int) throws {
        try damage(path) { $0.damage(size: size) }
    }

    package func removeFile(_ path: String) throws {
        try state.withLock { state in
            _ = try state.existingInode(at: path)
            let name = SimulatedNames.normal(path)
            state.names.remove(name)
            state.names.sync(SimulatedNames.parent(of: name))
            state.removeUnreachable()
        }
    }

    /// Removes all files in a directory, if there is one.
    package func removeFiles(in directory: String) throws {
        for path in paths where path.hasPrefix(directory + "/") { try removeFile(path) }
    }

    package func copyFile(_ source: String, to target: String) throws {
        setContent(try content(of: source), of: target)
    }

    private func damage(_ path: String, _ body: (SimulatedInode) -> Void) throws {
        try state.withLock { state in
            body(try state.existingInode(at: path))
        }
    }
}

extension SimulatedDiskState {
    fileprivate func existingInode(at path: String) throws -> SimulatedInode {
        guard let inode = inode(at: SimulatedNames.normal(path)) else {
            throw StrataError.systemCall("open", path: path, errno: ENOENT)
        }
        return inode
    }

    fileprivate mutating func placeFile(_ name: String) -> SimulatedInode {
        let parent = SimulatedNames.parent(of: name)
        var directory = parent
        while !names.directories.contains(directory) {
            names.makeDirectory(directory)
            directory = SimulatedNames.parent(of: directory)
        }
        let inode = addInode()
        names.add(name, inode.number)
        names.sync(parent)
        return inode
    }
}
