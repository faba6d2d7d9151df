import Glibc
import StrataModel
import StrataSystem

extension SimulatedDisk {
    package func open(_ path: String, _ mode: OpenMode) throws -> any File {
        let name = SimulatedNames.normal(path)
        let isNew = state.withLock { $0.names.files[name] == nil }
        let kind: CallKind =
            switch mode {
            case .create, .createPrivate: .create
            case .writeOrCreate: isNew ? .create : .open
            case .read, .write: .open
            }
        return try call(kind, path, "open") { state, _ in
            let inode = try state.openInode(name, mode)
            let isWritable = if case .read = mode { false } else { true }
            let handle = state.nextNumber()
            state.handles[handle] = .init(inode: inode.number, isWritable: isWritable)
            return SimulatedFile(
                disk: self, path: path, handle: handle, knownFailures: inode.writebackFailures)
        }
    }

    /// Whether nobody but its owner may read a file; nil if there is none of that name.
    package func isPrivate(_ path: String) -> Bool? {
        state.withLock { $0.inode(at: SimulatedNames.normal(path))?.isPrivate }
    }

    package func exists(_ path: String) throws -> Bool {
        try call(.exists, path, "access") { state, _ in
            let name = SimulatedNames.normal(path)
            do { try state.checkPath(name, "access") } catch let error as StrataError where error.code == .notFound {
                return false
            }
            return state.names.files[name] != nil || state.names.directories.contains(name)
        }
    }

    package func makeDirectory(_ path: String) throws {
        try call(.makeDirectory, path, "mkdir") { state, _ in
            let name = SimulatedNames.normal(path)
            try state.checkPath(name, "mkdir")
            guard state.names.files[name] == nil, !state.names.directories.contains(name) else { return }
            try state.checkWritable(path, "mkdir")
            state.names.makeDirectory(name)
        }
    }

    package func rename(_ source: String, to target: String) throws {
        try call(.rename, source, "rename") { state, _ in
            let (from, to) = (SimulatedNames.normal(source), SimulatedNames.normal(target))
            try state.checkPath(from, "rename")
            try state.checkPath(to, "rename")
            try state.checkIsFile(from, source, "rename")
            guard !state.names.directories.contains(to) else {
                throw StrataError.systemCall("rename", path: source, errno: EISDIR)
            }
            try state.checkWritable(source, "rename")
            state.names.rename(from, to: to)
            state.removeUnreachable()
        }
    }

    package func hardLink(_ source: String, to target: String) throws {
        try call(.rename, target, "link") { state, _ in
            let (from, to) = (SimulatedNames.normal(source), SimulatedNames.normal(target))
            try state.checkPath(from, "link")
            try state.checkPath(to, "link")
            try state.checkIsFile(from, source, "link")
            guard state.names.files[to] == nil, !state.names.directories.contains(to) else {
                throw StrataError.systemCall("link", path: target, errno: EEXIST)
            }
            try state.checkWritable(target, "link")
            if let file = state.names.files[from] { state.names.add(to, file) }
        }
    }

    package func remove(_ path: String) throws {
        try call(.remove, path, "unlink") { state, _ in
            let name = SimulatedNames.normal(path)
            try state.checkPath(name, "unlink")
            try state.checkIsFile(name, path, "unlink")
            try state.checkWritable(path, "unlink")
            state.names.remove(name)
            state.removeUnreachable()
        }
    }

    package func list(_ directory: String) throws -> [String] {
        try call(.list, directory, "opendir") { state, _ in
            let name = SimulatedNames.normal(directory)
            try state.checkIsDirectory(name, directory, "opendir")
            return state.names.list(name)
        }
    }

    package func freeBytes(of directory: String) throws -> Int? {
        state.withLock { state in state.capacityBytes.map { max(0, $0 - state.usedBytes) } }
    }

    package func syncDirectory(_ directory: String) throws {
        try call(.syncDirectory, directory, "fsync") { state, _ in
            let name = SimulatedNames.normal(directory)
            try state.checkIsDirectory(name, directory, "open")
            state.names.sync(name)
            state.removeUnreachable()
        }
    }
}

extension SimulatedDiskState {
    fileprivate mutating func openInode(_ name: String, _ mode: OpenMode) throws -> SimulatedInode {
        func failure(_ number: Int32) -> StrataError { .systemCall("open", path: name, errno: number) }
        try checkPath(name, "open")
        let mayCreate =
            switch mode {
            case .create, .createPrivate, .writeOrCreate: true
            case .read, .write: false
            }
        let mustCreate =
            switch mode {
            case .create, .createPrivate: true
            default: false
            }
        if let inode = inode(at: name) {
            if mustCreate { throw failure(EEXIST) }
            if case .read = mode {} else { try checkWritable(name, "open") }
            return inode
        }
        if names.directories.contains(name) {
            throw failure(mustCreate ? EEXIST : EISDIR)
        }
        guard mayCreate else { throw failure(ENOENT) }
        try checkWritable(name, "open")
        let inode = addInode()
        if case .createPrivate = mode { inode.isPrivate = true }
        names.add(name, inode.number)
        return inode
    }

    fileprivate func checkIsFile(_ name: String, _ path: String, _ call: StaticString) throws {
        guard names.files[name] == nil else { return }
        let isDirectory = names.directories.contains(name)
        throw StrataError.systemCall(call, path: path, errno: isDirectory ? EISDIR : ENOENT)
    }

    fileprivate func checkIsDirectory(_ name: String, _ path: String, _ call: StaticString) throws {
        // The root and the working directory have no parent here to look them up in.
        if name == "" || name == "/" { return }
        try checkPath(name, call)
        guard names.directories.contains(name) else {
            throw StrataError.systemCall(call, path: path, errno: names.files[name] == nil ? ENOENT : ENOTDIR)
        }
    }
}
