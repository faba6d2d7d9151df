import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Rewrites the base of a log without the data of erased records.
///
/// ```swift
/// if let erasure = try BaseErasure(of: log, by: eraser, in: path) {
///     var scan = try erasure.scan()
///     try log.replaceBase { try scan.next()?[...] }
/// }
/// ```
package struct BaseErasure {
    private let snapshot: Snapshot
    private let horizon: Position

    /// Folds the base, with the records erased, into an unnamed file; nil if the base holds no data of them.
    ///
    /// Erased records remain, without fields, because commits after the base may continue from them.
    package init?(
        of log: any EventLog, by eraser: RecordEraser, in directory: String, platform: Platform = Platform(),
        options: TreeStoreOptions = TreeStoreOptions()
    ) throws {
        guard let horizon = try log.base(), try Self.isHeld(by: log, horizon, eraser), var base = try log.readBase()
        else { return nil }
        let trees = try TemporaryViews(directory, platform.files).trees(options)
        let fold = Fold(try trees.fork())
        try fold.load(base: horizon, into: trees, isChanged: true) {
            guard let payload = try base.next() else { return nil }
            return try eraser.erased(payload, at: horizon.offset)?[...] ?? payload
        }
        snapshot = try fold.publish(to: trees)
        self.horizon = horizon
    }

    private static func isHeld(by log: any EventLog, _ horizon: Position, _ eraser: RecordEraser) throws -> Bool {
        var base = try log.readBase()
        while let payload = try base?.next() {
            if try eraser.erased(payload, at: horizon.offset) != nil { return true }
        }
        return false
    }

    /// Returns the payloads of the base that replaces the current one.
    package func scan() throws -> BaseScan { try BaseScan(snapshot, chain: horizon.chain) }
}
