import StrataLog
import StrataModel
import StrataSystem

/// Compares a store's states and asset files (docs/architecture.md §5) with the result of folding the log. It locks
/// and writes nothing, and another process may be writing to the store.
///
/// ```swift
/// let report = try DeepVerifier.verify(at: "Notes.strata")
/// if let offset = report.firstOffset { print("what commit \(offset) says is not in the views") }
/// ```
/// Use it on a log that ``LogVerifier`` finds whole. Trees that do not fit in a little memory go to unnamed files in
/// the system's temporary directory.
package enum DeepVerifier {
    /// The maximum number of attempts, since a writer may invalidate what was read.
    private static let maximumAttempts = 3

    /// - Parameter platform: used to read the store; its files are opened for reading only.
    /// - Throws: ``StrataError`` if the store cannot be read, or there is no room for the second fold.
    package static func verify(
        at path: String, platform: Platform = Platform(), progress: @escaping (DeepReport.Progress) -> Void = { _ in }
    ) throws -> DeepReport {
        var attempt = 1
        while true {
            let work = try DeepWork(at: path, platform, progress)
            do {
                let report = try work.run()
                // A difference may be a change that a writer is just making.
                if report.isWhole || attempt == maximumAttempts { return report }
                if try !work.hasChanged() { return report }
            } catch let error as StrataError where attempt < maximumAttempts && isOutdated(error) {}
            attempt += 1
        }
    }

    /// Returns true if a part of the log may have been removed or rewritten while it was read.
    private static func isOutdated(_ error: StrataError) -> Bool {
        error.code == .outOfRange || error.code == .notFound || error.isDamage
    }
}
