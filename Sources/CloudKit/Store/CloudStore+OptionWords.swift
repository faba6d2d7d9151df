import Foundation
import StrataModel

extension CloudStore.Options {
    /// The options that the environment variable `STRATA_OPTIONS` can set, with the names of the properties.
    private enum Word: String, CaseIterable {
        case atomicFailures, durability, historyBytes, historyDays, limits, parentTouch, predicates
        case recordFetches, recordRefusals, schema, shareURLBase
    }

    /// Creates options from words that are separated by spaces or commas: `service` or `embedded`, by default the
    /// former, then `name=value` for each option that differs.
    ///
    /// - Throws: ``CKError`` `invalidArguments`, with the names or values that exist.
    init(_ words: String) throws(CKError) {
        self.init()
        for (place, word) in words.split(whereSeparator: { $0 == " " || $0 == "," }).enumerated() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            switch parts[0] {
            case "service" where place == 0 && parts.count == 1: self = .service
            case "embedded" where place == 0 && parts.count == 1: self = .embedded
            case let name:
                guard let option = Word(rawValue: name) else {
                    throw Self.mistake("has the unknown word '\(name)'", Word.allCases.map { "\($0)=…" }, place)
                }
                guard parts.count == 2 else { throw Self.mistake("has no value for '\(name)'", ["\(name)=…"]) }
                try set(option, to: parts[1])
            }
        }
    }

    private mutating func set(_ option: Word, to value: String) throws(CKError) {
        func mistake(_ accepted: [String]) -> CKError {
            Self.mistake("has the value '\(value)' for '\(option)'", accepted)
        }
        func choice<Value>(_ values: KeyValuePairs<String, Value>, or form: [String] = []) throws(CKError) -> Value {
            guard let choice = values.first(where: { $0.key == value }) else { throw mistake(values.map(\.key) + form) }
            return choice.value
        }
        func number() throws(CKError) -> Int {
            guard let number = Int(value), number >= 0 else { throw mistake(["a number"]) }
            return number
        }
        let flags: KeyValuePairs = ["true": true, "false": false]
        switch option {
        case .atomicFailures: atomicFailures = try choice(["throwing": .throwing, "perItem": .perItem])
        case .durability:
            if value.hasSuffix("ms"), let milliseconds = Int(value.dropLast(2)), milliseconds > 0 {
                durability = .interval(.milliseconds(milliseconds))
            } else {
                durability = try choice(["commit": .commit, "system": .system], or: ["an interval as in '50ms'"])
            }
        case .historyBytes: history.bytes = try number()
        case .historyDays: history.days = try number()
        case .limits: limits = try choice(["service": .service, "embedded": .embedded])
        case .parentTouch: parentTouch = try choice(flags)
        case .predicates: predicates = try choice(["cloudKit": .cloudKit, "extended": .extended])
        case .recordFetches: recordFetches = try choice(flags)
        case .recordRefusals: recordRefusals = try choice(flags)
        case .schema: schema = try choice(["open": .open, "enforced": .enforced])
        case .shareURLBase: shareURLBase = value
        }
    }

    private static func mistake(_ found: String, _ accepted: [String], _ place: Int = 1) -> CKError {
        let accepted = (place == 0 ? ["service", "embedded"] : []) + accepted
        return CKError(
            .invalidArguments, message: "STRATA_OPTIONS \(found); possible: \(accepted.joined(separator: ", ")).")
    }
}
