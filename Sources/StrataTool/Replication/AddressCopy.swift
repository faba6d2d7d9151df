import Foundation
import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// The copy through which a command reads the store of a sequencer. Nothing is written to the sequencer.
enum AddressCopy {
    static let directory = Option.text(
        "--copy", "DIR", help: "with an address: keep the copy that is read in this directory, and update it next time")

    /// Calls `body` with the words of a command line, in which the address of a sequencer was replaced by the directory
    /// of a copy.
    static func resolving<Result>(
        _ arguments: Arguments, of command: any Command.Type, _ body: (Arguments) throws -> Result
    ) throws -> Result {
        let place = zip(command.operands, arguments.operands).enumerated().first {
            $0.element.0.name == Operand.store.name && SequencerAddress.isMeant(by: $0.element.1)
        }
        guard let (index, (_, word)) = place else {
            // Commands without a store among their operands have addresses of their own.
            if command.operands.contains(where: { $0.name == Operand.store.name }) { try requireNone(arguments) }
            return try body(arguments)
        }
        guard command.readsAddresses else {
            throw UsageError(
                "'\(command.name)' reads a directory, and '\(word)' is an address; 'strata join' makes a copy of it")
        }
        let address = try SequencerAddress(word).withFiles(of: arguments)
        guard !command.connectsItself, command.options.contains(where: { $0.name == directory.name }) else {
            return try body(arguments)
        }
        return try reading(address, in: arguments[directory], follows: arguments[LogCommand.follow]) { path in
            try body(arguments.replacing(operand: index, by: path))
        }
    }

    /// Refuses options that are only for addresses.
    private static func requireNone(_ arguments: Arguments) throws {
        for option in [directory, SequencerAddress.files] where arguments.has(option) {
            if option.name == SequencerAddress.files.name, arguments.has(VerifyCommand.against) { continue }
            throw UsageError("\(option.name) is for a store that is given by its address")
        }
    }

    /// Calls `body` with the directory of a copy that is up to date, and removes a temporary one after it.
    ///
    /// - Parameters:
    ///   - directory: where the copy is kept; nil for a temporary one.
    ///   - follows: true to keep the copy up to date while it is used.
    static func reading<Result>(
        _ address: SequencerAddress, in directory: String?, follows: Bool = false, _ body: (String) throws -> Result
    ) throws -> Result {
        try withPath(directory) { path in
            var log = try open(address, at: path)
            if try LogReader.isErasing(in: path, files: RealFileSystem()) {
                // Erases first: the command must neither show nor keep erased data.
                try log.close()
                _ = try JoinedCopy.update(path, address, isKept: false).close()
                if follows { log = try open(address, at: path) }
            }
            // A copy that no longer changes is read as it is.
            if follows { try log.follow {} } else { try log.close() }
            defer { try? log.close() }
            return try body(path)
        }
    }

    /// Calls `body` with the directory of a copy; without one with a path for a copy, which is removed after it.
    static func withPath<Result>(_ directory: String?, _ body: (String) throws -> Result) throws -> Result {
        if let directory { return try body(directory) }
        let folder = try TemporaryDirectory.make("strata-copy")
        Cleanup.removes(folder)
        defer {
            try? FileManager.default.removeItem(atPath: folder)
            Cleanup.keep(folder)
        }
        return try body(folder + "/store")
    }

    private static func open(_ address: SequencerAddress, at path: String) throws -> ReplicatedLog {
        try ReplicatedLog.open(
            at: path, sequencer: try address.open(),
            options: .init(
                address: address.place.address, filesDirectory: address.place.filesDirectory, notesProgress: false,
                givesIdentity: false),
            log: LogOptions(durability: .system, spaceStepBytes: 0))
    }
}
