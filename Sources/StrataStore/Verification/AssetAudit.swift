import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Compares the files of assets with what commits name.
struct AssetAudit {
    /// The maximum number of stray files that are reported.
    private static let maximumStrays = 1_000

    private let paths: AssetPaths
    private let files: any FileSystem

    init(_ store: String, _ files: any FileSystem) {
        paths = AssetPaths(store)
        self.files = files
    }

    /// - Parameter state: the state that names the assets.
    func run(_ state: Snapshot, _ report: inout DeepReport, _ progress: (UInt64, UInt64) -> Void) throws {
        var (done, total): (UInt64, UInt64) = (0, 0)
        try state.forEachAsset { _, row in
            total += row.size
            return true
        }
        try state.forEachAsset { hash, row in
            report.assetCount += 1
            report.assetBytes += row.size
            if let problem = try problem(with: hash, row) { report.assetProblems.append(problem) }
            done += row.size
            progress(done, total)
            return true
        }
        try findStrays(state, &report)
    }

    private func problem(with hash: ContentHash, _ row: AssetRow) throws -> DeepReport.AssetProblem? {
        var problem = DeepReport.AssetProblem(
            path: paths.file(of: hash), kind: .missing, offset: row.version.offset, expectedBytes: row.size)
        do {
            guard try files.exists(problem.path) else { return problem }
            let file = try files.open(problem.path, .read)
            defer { file.close() }
            let size = UInt64(try file.size())
            problem.foundBytes = size
            guard size == row.size else {
                problem.kind = .size
                return problem
            }
            problem.kind = .content
            return try AssetStore.hash(of: file) == hash ? nil : problem
        } catch let error as StrataError {
            (problem.kind, problem.error) = (error.code == .notFound ? .missing : .unreadable, error)
            return problem
        }
    }

    private func findStrays(_ state: Snapshot, _ report: inout DeepReport) throws {
        guard try files.exists(paths.directory) else { return }
        for folder in try files.list(paths.directory).sorted() {
            let path = paths.directory + "/" + folder
            guard folder.utf8.count == 2, let names = try? files.list(path) else {
                report.strayFiles.append(path)
                continue
            }
            for name in names.sorted() {
                let isNamed = try ContentHash(name).map {
                    try paths.file(of: $0) == path + "/" + name && state.assetRow($0) != nil
                }
                if isNamed != true { report.strayFiles.append(path + "/" + name) }
                guard report.strayFiles.count < Self.maximumStrays else { return }
            }
        }
    }
}
