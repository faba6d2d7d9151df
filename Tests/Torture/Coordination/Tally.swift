import Glibc
import StrataSystem

/// What a run has counted so far, and what failed.
final class Tally: Sendable {
    enum Failure: String, CaseIterable, Sendable {
        case lost, wrong, traps, hangs
    }

    private struct State {
        var counts: [String: Int] = [:]
        var seconds: [String: Double] = [:]
        var notices: Set<String> = []
    }

    private let state = Lock(State())
    let isQuiet: Bool

    init(isQuiet: Bool = false) { self.isQuiet = isQuiet }

    func add(_ count: Int = 1, to name: String) { state.withLock { $0.counts[name, default: 0] += count } }

    subscript(name: String) -> Int { state.withLock { $0.counts[name] ?? 0 } }
    subscript(failure: Failure) -> Int { self[failure.rawValue] }

    var failureCount: Int { Failure.allCases.reduce(0) { $0 + self[$1] } }

    func add(seconds: Double, to campaign: String) {
        state.withLock { $0.seconds[campaign, default: 0] += seconds }
    }

    func seconds(of campaign: String) -> Double { state.withLock { $0.seconds[campaign] ?? 0 } }

    /// Says something once, however often it is found.
    func notice(_ text: String) {
        guard state.withLock({ $0.notices.insert(text).inserted }) else { return }
        say("notice: \(text)")
    }

    func say(_ text: String) {
        if !isQuiet { Telling.complain(text) }
    }

    // MARK: The summary

    private static let bars = [
        "kills", "acknowledged", "mutations", "inputs", "forged tokens", "forged cursors", "forged URLs",
        "shared operations",
    ]
    private static let others = [
        "recoveries killed", "failed openings", "failed requests", "full disks", "feeds", "expired feeds", "openings",
        "tool commands",
        "repairs",
        "scenarios", "races",
    ]

    func summary(minutes: Double, campaigns: [String]) -> String {
        var lines: [String] = []
        for name in Self.bars + Self.others {
            let perMinute = minutes > 0 ? Double(self[name]) / minutes : 0
            lines.append("\(padded(name))\(leading(self[name]))   \(leading(Int(perMinute))) a minute")
        }
        for failure in Failure.allCases { lines.append("\(padded(failure.rawValue))\(leading(self[failure]))") }
        for campaign in campaigns {
            let rounds = self["rounds of \(campaign)"]
            lines.append("\(padded(campaign))\(leading(rounds)) rounds, \(Int(seconds(of: campaign))) s")
        }
        return lines.joined(separator: "\n")
    }

    private func padded(_ name: String) -> String { name + String(repeating: " ", count: max(1, 20 - name.count)) }

    private func leading(_ count: Int) -> String {
        let digits = String(count)
        return String(repeating: " ", count: max(0, 10 - digits.count)) + digits
    }

    func json(minutes: Double, seed: UInt64) -> String {
        let names = Self.bars + Self.others
        let counts = (names + Failure.allCases.map(\.rawValue)).map { name in
            "\"\(name.split(separator: " ").joined(separator: "_"))\":\(self[name])"
        }
        return "{\"seed\":\(seed),\"minutes\":\(minutes),\(counts.joined(separator: ","))}"
    }
}
