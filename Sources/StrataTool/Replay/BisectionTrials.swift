import Foundation
import Glibc
import StrataModel
import StrataReplay
import StrataStore
import StrataSystem

/// Runs a shell command on states of a store. Each run gets its own copy of the store.
final class BisectionTrials {
    /// The reason why the search stops.
    enum Stop: Error, CustomStringConvertible {
        case status(Int32, offset: UInt64)
        case signal(Int32, offset: UInt64)
        case interrupted

        var description: String {
            switch self {
            case .status(let status, let offset):
                "the command exited with \(status) after commit \(offset), so the search ends"
            case .signal(let number, let offset):
                "signal \(number) ended the command after commit \(offset), so the search ends"
            case .interrupted: "interrupted"
            }
        }
    }

    private static let skipStatus: Int32 = 125
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    private let command: String
    private let maker: BisectionStore
    private let reportsSteps: Bool
    /// The directory in which the stores are created, one at a time, with the name of the original.
    private let directory: String
    private let storePath: String
    /// The number of times the command was run.
    private(set) var count = 0

    /// - Parameter reportsSteps: true to report each step on the standard error.
    init(_ command: String, of store: Store, at path: String, reportsSteps: Bool) throws {
        (self.command, self.reportsSteps) = (command, reportsSteps)
        maker = try BisectionStore(of: store, at: path)
        directory = try TemporaryDirectory.make("strata-bisect")
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        storePath = "\(directory)/\(name.isEmpty || name.hasPrefix(".") ? "store" : name)"
        StopRequest.listen(to: Self.signals)
    }

    func removeFiles() {
        // A failure is harmless: the directory is temporary.
        try? FileManager.default.removeItem(atPath: directory)
        StopRequest.end(Self.signals)
    }

    /// - Throws: ``Stop`` if the exit status of the command ends the search.
    func run(at offset: UInt64) throws -> BisectionVerdict {
        try maker.make(at: storePath, through: offset)
        defer { try? FileManager.default.removeItem(atPath: storePath) }
        if StopRequest.hasCome { throw Stop.interrupted }
        setenv("STRATA_BISECT_STORE", storePath, 1)
        setenv("STRATA_BISECT_OFFSET", "\(offset)", 1)
        count += 1
        // The standard output is reserved for the answer.
        let child = try ShellCommand.start(
            command, with: STDERR_FILENO, as: STDOUT_FILENO, signals: Self.signals + [SIGPIPE])
        let status = try ShellCommand.wait(for: child)
        if StopRequest.hasCome { throw Stop.interrupted }
        let verdict: BisectionVerdict
        switch (status & 0x7F, status >> 8 & 0xFF) {
        case (0, 0): verdict = .doesNotHold
        case (0, Self.skipStatus): verdict = .cannotTell
        case (0, 1...127): verdict = .holds
        case (0, let code): throw Stop.status(code, offset: offset)
        case (let number, _): throw Stop.signal(number, offset: offset)
        }
        if reportsSteps { Diagnostics.write("commit \(offset): \(Self.text(of: verdict, status >> 8 & 0xFF))\n") }
        return verdict
    }

    private static func text(of verdict: BisectionVerdict, _ status: Int32) -> String {
        switch verdict {
        case .doesNotHold: "does not hold yet"
        case .holds: "holds (\(status))"
        case .cannotTell: "cannot be tested (\(status))"
        }
    }
}
