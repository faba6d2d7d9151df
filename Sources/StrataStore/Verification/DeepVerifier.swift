import StrataLog
import StrataModel
import StrataSystem

/// Compares what a store has beside its log (docs/architecture.md §5) with what folding the log gives: the page file,
/// and the files of assets. Nothing of the store is locked or written, and somebody may be writing to it.
///
/// ```swift
/// let report = try DeepVerifier.verify(at: "Notes.strata")
/// if let offset = report.firstOffset { print("what commit \(offset) says is not in the page file") }
/// ```
/// It is for a log that ``LogVerifier`` finds whole. Trees that do not fit a little memory go to files without names in
/// the system's temporary directory.
public enum DeepVerifier {
    /// What is being done, and how far it has come.
    public enum Progress: Sendable {
        case folding(done: UInt64, total: UInt64)
        case comparing
        case readingAssets(done: UInt64, total: UInt64)
    }

    /// Somebody who writes may make a part of what was read void so often.
    private static let maximumAttempts = 3

    /// - Parameter platform: how the store is read; its files are opened for reading only.
    /// - Throws: ``StrataError`` if the store cannot be read, or there is no room for the second fold.
    public static func verify(
        at path: String, platform: Platform = Platform(), progress: @escaping (Progress) -> Void = { _ in }
    ) throws -> DeepReport {
        var attempt = 1
        while true {
            let work = try DeepWork(at: path, platform, progress)
            do {
                let report = try work.run()
                // What differs may be what a writer is just changing.
                if report.isWhole || attempt == maximumAttempts { return report }
                if try !work.hasChanged() { return report }
            } catch let error as StrataError where attempt < maximumAttempts && isOutdated(error) {}
            attempt += 1
        }
    }

    /// Whether a part of the log may have been let go of, or written anew, while it was read.
    private static func isOutdated(_ error: StrataError) -> Bool {
        error.code == .outOfRange || error.code == .notFound || error.isDamage
    }
}
