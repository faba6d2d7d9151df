import Foundation
import Glibc
import StrataSystem
import TestSupport

/// One round of a campaign: its seed, its folder, and where it tells what it found.
final class Round {
    let campaign: String
    let number: Int
    let seed: UInt64
    let tally: Tally
    /// Removed after the round, unless something failed in it.
    let folder: String
    /// As ``folder``, in memory where there is room for it: syncs take no time there.
    let memory: String
    private(set) var hasFailed = false

    init(_ campaign: String, _ number: Int, runSeed: UInt64, _ tally: Tally, in work: String) throws {
        (self.campaign, self.number, self.tally) = (campaign, number, tally)
        let mixed = campaign.utf8.reduce(runSeed &+ UInt64(number) &* 0x9E37_79B9) { $0 &* 31 &+ UInt64($1) }
        var generator = SeededGenerator(seed: mixed)
        seed = generator.next() >> 1
        folder = "\(work)/\(campaign)-\(runSeed)-\(number)"
        let shared = "/dev/shm"
        memory = access(shared, W_OK) == 0 ? "\(shared)/torture/\(campaign)-\(runSeed)-\(number)" : folder
        for path in [folder, memory] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
    }

    func finish() {
        if !hasFailed { remove() }
    }

    func remove() {
        for path in [folder, memory] { try? FileManager.default.removeItem(atPath: path) }
    }

    func fail(_ kind: Tally.Failure, _ text: String) {
        hasFailed = true
        tally.add(to: kind.rawValue)
        let place = "\(campaign), round \(number), seed \(seed)"
        tally.say("\(kind.rawValue.uppercased()) in \(place): \(text); kept: \(folder), \(memory)")
    }

    func start(_ words: [String], environment: [String: String] = [:]) throws -> ChildProcess {
        // Swift's own backtraces take seconds and would make a trap look like a hang.
        let variables = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { own, _ in own }
        return try ChildProcess(
            ChildProcess.product("torture"), words, environment: variables, errors: "\(folder)/errors")
    }

    /// How a child ended that was followed.
    enum Ending: Equatable {
        case done
        case killed
        /// With what it was last doing.
        case broken(at: Int?)
    }

    /// Reads what a child tells until it ends, and counts it. A child that says nothing for so long hangs; one that
    /// ends without saying that it is done trapped.
    func follow(
        _ child: ChildProcess, patienceSeconds: Double, _ body: (_ words: [Substring]) -> Void = { _ in }
    ) -> Ending {
        var (place, isDone): (Int?, Bool) = (nil, false)
        while true {
            switch child.nextLine(withinSeconds: patienceSeconds) {
            case .line(let line):
                let words = line.split(separator: " ")
                isDone = isDone || words.first == "done"
                if words.first == "at", words.count > 1 { place = Int(words[1]) }
                take(line, words)
                body(words)
            case .silence:
                child.kill()
                fail(.hangs, "nothing for \(patienceSeconds) s\(at(place))")
                return .broken(at: place)
            case .end:
                let status = child.wait()
                if isDone && status == 0 { return .done }
                fail(.traps, "\(Self.text(ofStatus: status))\(at(place)): \(lastError())")
                return .broken(at: place)
            }
        }
    }

    private func at(_ place: Int?) -> String { place.map { " at input \($0)" } ?? "" }

    func take(_ line: String, _ words: [Substring]) {
        let rest = words.dropFirst().joined(separator: " ")
        switch words.first {
        case "lost": fail(.lost, rest)
        case "wrong": fail(.wrong, rest)
        case "count" where words.count > 2:
            tally.add(Int(words.last ?? "") ?? 0, to: words[1..<(words.count - 1)].joined(separator: " "))
        case "note", "failed": tally.say("\(campaign), round \(number): \(rest.prefix(300))")
        default: break
        }
    }

    static func text(ofStatus status: Int32) -> String {
        status & 0x7F == 0 ? "ended with \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
    }

    private func lastError() -> String {
        let text = (try? String(contentsOfFile: "\(folder)/errors", encoding: .utf8)) ?? ""
        return String(text.split(separator: "\n").last?.prefix(300) ?? "")
    }
}
