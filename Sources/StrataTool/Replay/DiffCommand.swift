import StrataLog
import StrataModel
import StrataReplay
import StrataStore

/// `strata diff`: the records that differ between two states, and their differences.
enum DiffCommand: Command {
    static let name = "diff"
    static let summary = "print which records differ between two states, or two stores"
    static let details =
        "A and B are offsets or times of one store; B is its end by default. Or A is the directory of another store, "
        + "and both are compared as they are. + marks a record or field that only B has (with two stores, the other "
        + "one), - one that only A has, ~ one that both have with different values. In one store a record that was "
        + "saved without a change is printed without fields; two stores are compared by names and values, not by "
        + "change tags and times. Data that both states of a store share is not read. It can run while another program "
        + "writes to the store. Exits with 1 if anything differs."
    static let operands = [
        Operand.store,
        Operand(
            name: "A",
            help: "an offset or a time, a range such as 10..20 for A and B, or the directory of another store"),
        Operand(name: "B", help: "an offset or a time; the end by default", isRequired: false),
    ]
    static let type = Option.text("--type", "NAME", help: "only records of this type")
    static let stat = Option.flag(
        "--stat", help: "print how many records of each type and zone differ, instead of which")
    static let options: [any OptionDescription] = [
        type, DatabaseOptions.typedUser, DatabaseOptions.database, DatabaseOptions.owner, DatabaseOptions.zone, stat,
        QueryCommand.reveal, Option.json,
    ]
    static let examples = [
        "strata diff Notes.strata 1200 1300", "strata diff Notes.strata 15m --type Note --stat",
        "strata diff Notes.strata Copy.strata --json | jq -r .record",
    ]

    /// The operands, with A and B in place of a range such as `10..20`.
    private static func places(_ arguments: Arguments) -> [String] {
        let words = arguments.operands
        func isMoment(_ text: String) -> Bool { (try? Moment(text, as: "A")) != nil }
        guard words.count == 2, let (from, to) = CommitOperand.range(words[1], isPlace: isMoment) else { return words }
        return [words[0], from.isEmpty ? "0" : from] + (to.isEmpty ? [] : [to])
    }

    static func stores(_ arguments: Arguments) -> [String] {
        let words = places(arguments)
        // A word that is not a point in the first store names another store.
        guard words.count == 2, UInt64(words[1]) == nil, (try? Moment(words[1], as: "A")) == nil else {
            return Array(words.prefix(1))
        }
        return words
    }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let scope = try scope(arguments)
        let words = places(arguments)
        guard let first = try Moment(words[1], as: "A") else {
            guard words.count == 2 else {
                throw UsageError(
                    "A is an offset, or a time such as \(Moment.timeExamples); '\(words[1])' is neither; with another "
                        + "store there is no B")
            }
            return try compare(words[0], with: words[1], in: scope, arguments, output)
        }
        var second: Moment?
        if words.count > 2 {
            second = try Moment(words[2], as: "B")
            if second == nil {
                throw UsageError("B is an offset, or a time such as \(Moment.timeExamples), not '\(words[2])'")
            }
        }
        return try compare(words[0], from: first, to: second, in: scope, arguments, output)
    }

    private static func scope(_ arguments: Arguments) throws(UsageError) -> DifferenceScope {
        var scope = DifferenceScope(
            zone: arguments[DatabaseOptions.zone].map { ZoneID($0) }, type: arguments[type])
        if DatabaseOptions.areGiven(in: arguments) {
            let place = try DatabaseOptions(arguments)
            scope.database = DatabaseID(place.database.scope, owner: place.ownerName)
        }
        return scope
    }

    private static func compare(
        _ path: String, from first: Moment, to second: Moment?, in scope: DifferenceScope, _ arguments: Arguments,
        _ output: Output
    ) throws -> ExitCode {
        try StateAccess.read(path, by: name, output) { access in
            let (from, to) = try Refusal.unlessFound {
                let log = access.store.log
                return (try first.offset(in: log), try second?.offset(in: log) ?? access.store.offset)
            }
            try requireKnown(scope, in: [access.store])
            var report = DifferenceReport(arguments, output)
            try StateDifference(of: access.store, from: from, to: to, in: scope).forEachRecord { try report.add($0) }
            return try report.end(by: name)
        }
    }

    private static func compare(
        _ path: String, with other: String, in scope: DifferenceScope, _ arguments: Arguments, _ output: Output
    ) throws -> ExitCode {
        try StateAccess.read(path, by: name, output) { access in
            try StateAccess.read(other, by: name, output) { another in
                try requireKnown(scope, in: [access.store, another.store])
                var report = DifferenceReport(arguments, output)
                let difference = StoreDifference(from: access.store, to: another.store, in: scope)
                try difference.forEachRecord { try report.add($0) }
                return try report.end(by: name)
            }
        }
    }

    /// Rejects unknown names, since a misspelled name must not look like one without differences.
    ///
    /// - Throws: ``Refusal`` for a user, a zone or a type that no store has ever had.
    private static func requireKnown(_ scope: DifferenceScope, in stores: [Store]) throws {
        let states = stores.map { ContainerState($0) }
        if let owner = scope.database?.owner, !owner.isEmpty,
            try !states.contains(where: { try $0.trees.ordinal(of: .user(owner)) != nil })
        {
            throw Refusal(.unknownItem, "The store has no user '\(owner)'.")
        }
        if let type = scope.type, try !states.contains(where: { try $0.trees.ordinal(of: .recordType(type)) != nil }) {
            throw Refusal(.unknownItem, "The store has no record type '\(type)'.")
        }
        if let zone = scope.zone, try !states.contains(where: { try $0.hasHadZone(named: zone.name) }) {
            throw Refusal(.zoneNotFound, "The store has no zone '\(zone.name)'.")
        }
    }
}
