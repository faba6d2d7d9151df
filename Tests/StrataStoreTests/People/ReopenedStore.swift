import StrataModel
import StrataSystem
import StrataViews
import TestSupport

@testable import StrataStore

/// A store on a simulated disk that is opened again and again.
struct ReopenedStore {
    private static let path = "/Names.strata"

    private let disk = SimulatedDisk()
    private(set) var store: Store

    init() throws { store = try Self.open(disk) }

    private static func open(_ disk: SimulatedDisk) throws -> Store {
        try Store.open(at: path, options: .service, platform: Platform(files: disk))
    }

    /// Opens it again, without views if asked to.
    mutating func reopen(removingViews: Bool = false) throws {
        try store.close()
        if removingViews { try disk.removeFiles(in: Self.path + "/views") }
        store = try Self.open(disk)
    }
}

extension Store {
    /// Returns the user whose own record has a name; nil if no user has it.
    func user(named recordName: String) throws -> String? {
        try snapshot().user(at: UserAddress(.recordName, recordName))?.name
    }

    /// Returns the entries of the present state that differ from those that the log yields.
    func differencesFromLog() throws -> [ScrubReport.Difference] {
        let (trees, folded) = (views.trees.snapshot(), try Views.emptyTrees())
        try Replay(log: log, trees: folded).run(upTo: trees.foldedOffset(ViewTree.records))
        return try Views.compare(trees, with: folded.snapshot()).differences
    }
}
