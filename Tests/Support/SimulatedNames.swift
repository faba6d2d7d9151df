/// The names of a simulated disk: which file each stands for now, and which of that the medium knows.
///
/// Directories are durable as soon as they are made. Names in them are durable after a sync of the directory; before
/// it, power loss may undo each change by itself, in any combination.
struct SimulatedNames {
    private(set) var files: [String: Int] = [:]
    private(set) var directories: Set<String> = ["", "/"]
    private var durable: [String: Int] = [:]
    private var unsynced: [Change] = []

    private enum Change {
        case added(String, Int)
        case removed(String, Int)
        case renamed(String, String, Int)

        var directory: String {
            switch self {
            case .added(let path, _), .removed(let path, _), .renamed(let path, _, _): SimulatedNames.parent(of: path)
            }
        }

        var file: Int {
            switch self {
            case .added(_, let file), .removed(_, let file), .renamed(_, _, let file): file
            }
        }

        func apply(to files: inout [String: Int]) {
            switch self {
            case .added(let path, let file): files[path] = file
            case .removed(let path, let file): if files[path] == file { files[path] = nil }
            case .renamed(let source, let target, let file):
                if files[source] == file { files[source] = nil }
                files[target] = file
            }
        }
    }

    /// Every file that a name stands for, or may stand for after power loss.
    var reachable: Set<Int> { Set(files.values).union(durable.values).union(unsynced.map(\.file)) }

    mutating func add(_ path: String, _ file: Int) { change(.added(path, file)) }

    mutating func remove(_ path: String) {
        if let file = files[path] { change(.removed(path, file)) }
    }

    mutating func rename(_ source: String, to target: String) {
        guard let file = files[source], source != target else { return }
        if Self.parent(of: source) == Self.parent(of: target) {
            change(.renamed(source, target, file))
        } else {
            // Two directories are two places on the medium: each is durable by its own sync.
            change(.added(target, file))
            change(.removed(source, file))
        }
    }

    mutating func makeDirectory(_ path: String) { directories.insert(path) }

    mutating func sync(_ directory: String) {
        for change in unsynced where change.directory == directory { change.apply(to: &durable) }
        unsynced.removeAll { $0.directory == directory }
    }

    func list(_ directory: String) -> [String] {
        let paths = Array(files.keys) + directories.filter { $0 != "" && $0 != "/" }
        return paths.filter { Self.parent(of: $0) == directory }.map { Self.name(of: $0) }
    }

    func afterPowerLoss(_ fate: inout some UnsyncedFate) -> SimulatedNames {
        var survivor = SimulatedNames()
        survivor.directories = directories
        survivor.durable = durable
        for change in unsynced where fate.keepsNameChange() { change.apply(to: &survivor.durable) }
        survivor.files = survivor.durable
        return survivor
    }

    private mutating func change(_ change: Change) {
        change.apply(to: &files)
        unsynced.append(change)
    }
}

extension SimulatedNames {
    /// One spelling per path: no doubled, trailing or lone-dot parts. `..` is a name like any other.
    static func normal(_ path: String) -> String {
        let parts = path.split(separator: "/").filter { $0 != "." }
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func name(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return path }
        return String(path[path.index(after: slash)...])
    }
}
