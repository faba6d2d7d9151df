import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// The base of a log without what some records held.
///
/// ```swift
/// if let erasure = try BaseErasure(of: log, by: eraser, in: path) {
///     var scan = try erasure.scan()
///     try log.replaceBase { try scan.next()?[...] }
/// }
/// ```
public struct BaseErasure {
    private let snapshot: Snapshot
    private let horizon: Position

    /// Folds the base, with what is left of the records, into a file without a name; nil if it has nothing of them.
    ///
    /// What was erased is still there, as records without fields: commits behind the base may go on from them.
    public init?(
        of log: any EventLog, by eraser: RecordEraser, in directory: String, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions()
    ) throws {
        guard let horizon = try log.base(), try Self.isHeld(by: log, horizon, eraser), var base = try log.readBase()
        else { return nil }
        let pages = try PageStore.temporary(in: directory, files: platform.files, options: options)
        let fold = Fold(pages.fork())
        try fold.load(base: horizon, isChanged: true) {
            guard let payload = try base.next() else { return nil }
            return try eraser.erased(payload, at: horizon.offset)?[...] ?? payload
        }
        snapshot = try fold.publish(to: pages)
        self.horizon = horizon
    }

    private static func isHeld(by log: any EventLog, _ horizon: Position, _ eraser: RecordEraser) throws -> Bool {
        var base = try log.readBase()
        while let payload = try base?.next() {
            if try eraser.erased(payload, at: horizon.offset) != nil { return true }
        }
        return false
    }

    /// The payloads of the base that takes the place of the other.
    public func scan() throws -> BaseScan { try BaseScan(snapshot, chain: horizon.chain) }
}
