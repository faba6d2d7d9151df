import Foundation
import StrataSystem

/// Runs rounds of all campaigns side by side until the time is over, the one that is behind its share first.
final class Scheduler: Sendable {
    private struct Entry {
        let campaign: any Campaign
        var nextRound: Int
        var isRunning = 0
    }

    private let entries: Lock<[Entry]>
    private let settings: CoordinatorSettings
    private let tally: Tally
    private let end: ContinuousClock.Instant

    init(_ campaigns: [any Campaign], _ settings: CoordinatorSettings, _ tally: Tally) {
        entries = Lock(campaigns.map { Entry(campaign: $0, nextRound: settings.firstRound) })
        (self.settings, self.tally) = (settings, tally)
        end = .now + .seconds(settings.minutes * 60)
    }

    func run() throws {
        let lanes = try (0..<settings.lanes).map { lane in
            try WorkerThread(name: "lane-\(lane)") {
                while ContinuousClock.now < self.end, let (campaign, number, index) = self.next() {
                    self.run(campaign, number)
                    self.entries.withLock { $0[index].isRunning -= 1 }
                }
            }
        }
        for lane in lanes { lane.join() }
    }

    private func next() -> (any Campaign, Int, Int)? {
        entries.withLock { entries in
            func used(_ entry: Entry) -> Double {
                // What runs counts as a few seconds, so that lanes choose different ones.
                (tally.seconds(of: entry.campaign.name) + Double(entry.isRunning) * 5) / entry.campaign.weight
            }
            guard let index = entries.indices.min(by: { used(entries[$0]) < used(entries[$1]) }) else { return nil }
            defer {
                entries[index].nextRound += 1
                entries[index].isRunning += 1
            }
            return (entries[index].campaign, entries[index].nextRound, index)
        }
    }

    private func run(_ campaign: any Campaign, _ number: Int) {
        let start = ContinuousClock.now
        do {
            let round = try Round(campaign.name, number, runSeed: settings.seed, tally, in: settings.work)
            defer { round.finish() }
            do { try campaign.run(round) } catch { round.fail(.wrong, "the round itself failed: \(error)") }
        } catch {
            tally.add(to: Tally.Failure.wrong.rawValue)
            tally.say("\(campaign.name), round \(number): \(error)")
        }
        tally.add(to: "rounds of \(campaign.name)")
        tally.add(seconds: Double((ContinuousClock.now - start) / .milliseconds(1)) / 1_000, to: campaign.name)
    }
}
