import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import StrataViews

/// The words that may complete a command line: those of a closed set, or names in the store that the line names.
struct CompletionWords {
    /// The options and operands that take names.
    static let places: Set = [
        "--user", "--owner", "USER", "--device", "DEVICE", "--zone", "ZONE", "--type", "TYPE", "--record", "RECORD",
    ]
    /// The maximum number of words.
    static let maximumCount = 200
    /// The maximum number of commits to read after the newest state on disk.
    private static let maximumCommits: UInt64 = 10_000

    /// The operands before the completed word, the store included.
    private var operands: [String] = []
    /// The values of options before the completed word.
    private var values: [String: String] = [:]
    private var store: String?
    /// The option or operand that is completed, and its closed set.
    private var place: (name: String, words: [String]) = ("", [])
    /// The completed word, and the part of it before the value, such as `--user=`.
    private var beginning = ""
    private var option = ""

    /// Returns nil for a word that is no value.
    ///
    /// - Parameter line: a command and the words after it, of which the last is completed. It may be empty.
    init?(_ line: [String], _ variables: [CommandVariable: String]) {
        guard line.count > 1, let command = CommandRegistry.commands.first(where: { $0.name == line[0] }),
            let word = line.last
        else { return nil }
        let options = ArgumentParser(command)
        var asked: (any OptionDescription)?
        for word in line.dropFirst().dropLast() {
            if let option = asked {
                values[option.name] = word
                asked = nil
            } else if word.hasPrefix("-"), word != "-" {
                let (name, value) = ArgumentParser.split(word)
                values[name] = value
                if value == nil, let option = options.option(named: name)?.option, option.valueName != nil {
                    asked = option
                }
            } else {
                operands.append(word)
            }
        }
        beginning = word
        if asked == nil, word.hasPrefix("-") {
            let (name, value) = ArgumentParser.split(word)
            guard let value, let named = options.option(named: name)?.option else { return nil }
            asked = named
            (option, beginning) = (name + "=", value)
        }
        takeStore(of: command, variables)
        values["--user"] = values["--user"] ?? variables[.user]
        if let asked {
            place = (asked.name, asked.words)
        } else {
            let operand =
                command.operands.dropFirst(operands.count).first ?? command.operands.last(where: \.isRepeatable)
            guard let operand else { return nil }
            place = (operand.name, operand.words)
        }
    }

    private mutating func takeStore(of command: any Command.Type, _ variables: [CommandVariable: String]) {
        if let first = operands.first, ArgumentParser.isStore(first) {
            store = first
        } else if !command.changesStores, command.operands.first?.variable == .store, let path = variables[.store] {
            store = path
            operands.insert(path, at: 0)
        }
    }

    /// All words that continue the completed one, in order; none if the store cannot be read.
    var all: [String] {
        let found = place.words.isEmpty ? (try? names()) ?? [] : place.words.compactMap(continued)
        // Each is printed on a line of its own.
        let fitting = found.filter { $0.hasPrefix(beginning) && Printable.escaped($0) == $0 }
        return Set(fitting).sorted().prefix(Self.maximumCount).map { option + $0 }
    }

    /// Returns the whole word for one that begins with `=`, which follows what was typed before that sign.
    private func continued(_ word: String) -> String? {
        guard word.hasPrefix("=") else { return word }
        guard let sign = beginning.firstIndex(of: "=") else { return nil }
        let isOfSet = place.words.contains { $0.hasPrefix(beginning[...sign]) }
        return isOfSet ? nil : String(beginning[..<sign]) + word
    }

    // MARK: Names

    private func names() throws -> [String] {
        guard let store, Self.places.contains(place.name), !SequencerAddress.isMeant(by: store) else { return [] }
        let platform = Platform(files: ReadOnlyFiles())
        let log = try LogReader.open(at: store, requiresWholeEnd: false, platform: platform)
        let newest = try Views.summary(of: log, in: store, files: ReadOnlyFiles())?.state?.position.offset ?? 0
        let offset = min(log.end.offset, max(newest, log.floor.offset) + Self.maximumCommits)
        let opened = try Store.open(at: store, through: offset, options: StoreOptions.service.lean, platform: platform)
        defer { try? opened.close() }
        return try names(in: ContainerState(opened))
    }

    private func names(in state: ContainerState) throws -> [String] {
        var found: [String] = []
        switch place.name {
        case "--user", "--owner", "USER": try state.forEachUser { found.append($1) }
        case "--device", "DEVICE": found = try devices(state)
        case "--type", "TYPE": found = try state.snapshot.schema().recordTypes.map(\.name)
        case "--zone", "ZONE": try forEachZone(state) { found.append($0.name) }
        default: try forEachZone(state) { try addRecords(of: $0, state, to: &found) }
        }
        return found
    }

    private func devices(_ state: ContainerState) throws -> [String] {
        let user = place.name == "DEVICE" ? operands.dropFirst().first : values["--user"]
        var found: [String] = []
        try state.forEachUser { ordinal, name in
            guard user == nil || user == name else { return }
            try state.trees.forEachDevice(of: ordinal) {
                found.append(try state.device($0))
                return true
            }
        }
        return found
    }

    /// Calls `body` with the zones that exist in the databases that the line names.
    private func forEachZone(_ state: ContainerState, _ body: (ContainerState.ZoneEntry) throws -> Void) throws {
        let zone = place.name == "--zone" || place.name == "ZONE" ? nil : values["--zone"]
        try state.forEachDatabase { database in
            guard isMeant(database.id) else { return }
            for entry in try state.zones(of: database) where entry.row.status == .alive {
                if zone == nil || zone == entry.name { try body(entry) }
            }
        }
    }

    private func isMeant(_ database: DatabaseID) -> Bool {
        let (user, owner) = (values["--user"], values["--owner"])
        switch values["--database"] {
        case "public": return database.scope == .public
        case "shared": return database.scope == .private && database.owner == owner ?? database.owner && owner != user
        default: return (owner ?? user).map { database.scope == .private && database.owner == $0 } ?? true
        }
    }

    private func addRecords(of zone: ContainerState.ZoneEntry, _ state: ContainerState, to found: inout [String]) throws
    {
        try state.trees.forEachRecord(of: zone.ordinal, from: beginning) { bytes, _ in
            let name = String(decoding: bytes, as: UTF8.self)
            guard name.hasPrefix(beginning), found.count < Self.maximumCount else { return false }
            found.append(name)
            return true
        }
    }
}
