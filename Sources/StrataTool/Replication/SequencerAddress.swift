import StrataConnections
import StrataJetStream
import StrataLog
import StrataModel
import StrataPostgres
import StrataReplication
import StrataSystem

/// The address of a sequencer on a command line, such as `file:///shared/Notes.sequence`.
struct SequencerAddress: Sendable {
    /// A sequencer that was created. Connecting to another one is an error.
    let place: LogPlace
    /// Makes what the sequencer needs, so that a store can be created there.
    let prepare: @Sendable () throws -> Void

    static let operand = Operand(
        name: "ADDRESS", help: "the address of the sequencer, such as file:///shared/Notes.sequence")

    /// Parses an address.
    init(_ text: String) throws {
        guard let colon = text.firstRange(of: "://") else {
            // It may have a password.
            let word = text.contains("@") ? "the word" : "'\(text)'"
            throw UsageError("\(word) is not the address of a sequencer", list: Self.forms)
        }
        let rest = String(text[colon.upperBound...])
        switch text[..<colon.lowerBound].lowercased() {
        case "file": self = try .directory(rest)
        case "nats", "tls":
            let address = try ServerAddress(parsing: text)
            let options = try JetStreamOptions(address)
            self.init(place: try .jetStream(address)) {
                try Self.makeIfMissing { try JetStreamSequencer.create(options) }
                if options.hasAssets { try Self.makeIfMissing { try JetStreamSequencer.create(options.forObjects) } }
            }
        case "postgres", "postgresql":
            let address = try ServerAddress(parsing: text)
            self.init(place: try .postgres(address)) {
                try Self.makeIfMissing { try PostgresSequencer.create(address) }
            }
        case let scheme:
            throw UsageError(
                "there are no addresses that begin with '\(scheme)://', only the following ones", list: Self.forms)
        }
    }

    /// The known forms of addresses.
    private static let forms = [
        "file:///DIRECTORY", "nats://HOST:PORT/STREAM", "tls://HOST:PORT/STREAM", "postgres://USER@HOST/DATABASE",
    ]

    private static func directory(_ path: String) throws -> SequencerAddress {
        guard path.hasPrefix("/"), path.contains(where: { $0 != "/" }) else {
            throw UsageError("an address of a directory has an absolute path: file:///DIRECTORY, not 'file://\(path)'")
        }
        var path = path[...]
        while path.last == "/" { path.removeLast() }
        let directory = String(path)
        return SequencerAddress(place: .directory(directory, creates: false)) {
            try DirectorySequencer(at: directory).close()
        }
    }

    /// Leaves what exists: opening it checks whether it is suitable.
    private static func makeIfMissing(_ body: () throws -> some Any) throws {
        do { _ = try body() } catch let error as StrataError where error.code == .alreadyExists {}
    }

    private init(place: LogPlace, prepare: @escaping @Sendable () throws -> Void) {
        (self.place, self.prepare) = (place, prepare)
    }

    /// The directory of the store's assets and keys, which has the bases of a trimmed sequencer.
    static let files = Option.text(
        "--files", "DIRECTORY",
        help: "with an address: the directory of the store's assets and keys, unless it is in "
            + "that of the sequencer")

    /// Returns the address with the directory that a command line names, if it names one.
    func withFiles(of arguments: Arguments) -> SequencerAddress {
        guard let directory = arguments[Self.files] else { return self }
        return SequencerAddress(
            place: place.withFiles(in: WorkingDirectory.absolutePath(of: directory)), prepare: prepare)
    }

    /// Checks that a store can become the owner of the assets in the cluster, if the address says that they are there.
    func checkAssets(of store: Identifier) throws {
        guard place.assets == .cluster, let objects = try place.objects(Platform()) else { return }
        defer { objects.close() }
        try objects.checkOwner(for: store)
    }

    /// Makes a store the owner of the assets in the cluster, if the address says that they are there, and adds the
    /// files of a directory; returns their number.
    @discardableResult
    func keepAssets(of store: Identifier, from directory: String? = nil) throws -> Int {
        guard place.assets == .cluster, let objects = try place.objects(Platform()) else { return 0 }
        defer { objects.close() }
        try objects.claim(for: store)
        return try directory.map { try objects.addAssets(in: $0) } ?? 0
    }

    /// Makes the sequencer ready and gives it the history of a directory, which then follows it.
    func attach(_ path: String) throws -> CopyMove.Result {
        try prepare()
        return try withSequencer {
            try CopyMove.attach(at: path, to: $0, address: place.address) { identity in
                // Before the entries that name them.
                try keepAssets(of: identity.storeID, from: path)
            }
        }
    }

    /// Returns true for a word that is meant as an address rather than as a path.
    static func isMeant(by word: String) -> Bool {
        // A path with a colon can be written with `./` in front.
        guard let colon = word.firstIndex(of: ":"), colon != word.startIndex else { return false }
        let scheme = word[..<colon]
        return scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            && word[colon...].dropFirst().hasPrefix("/")
    }

    /// Connects to the sequencer, and calls `body`.
    func withSequencer<Result>(_ body: (any Sequencer) throws -> Result) throws -> Result {
        let sequencer = try open()
        defer { sequencer.close() }
        return try body(sequencer)
    }

    func open() throws -> any Sequencer {
        guard let sequencer = try place.sequencer(Platform()) else {
            throw StrataError(.invalidArgument, "The address has no sequencer.", .init(path: place.address))
        }
        return sequencer
    }
}
