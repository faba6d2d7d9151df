import Foundation
import Glibc

/// Runs the campaigns that are asked for, and says what came of them.
struct Coordinator {
    let settings: CoordinatorSettings

    init(_ settings: CoordinatorSettings) { self.settings = settings }

    /// - Returns: what the program ends with.
    func run() throws -> Int32 {
        try FileManager.default.createDirectory(atPath: settings.work, withIntermediateDirectories: true)
        if settings.isCanary { return try Canaries(settings).run() }
        let tally = Tally()
        var campaigns: [any Campaign] = Campaigns.all(settings)
        if let only = settings.only {
            campaigns.removeAll { $0.name != only }
            guard !campaigns.isEmpty else {
                let names = Campaigns.all(settings).map(\.name).joined(separator: ", ")
                tally.say("there is no campaign \(only); there are \(names)")
                return 2
            }
        }
        for campaign in campaigns { campaign.obstacle.map { tally.notice("\(campaign.name) is left out: \($0)") } }
        campaigns.removeAll { $0.obstacle != nil }
        tally.say(
            "seed \(settings.seed), \(settings.minutes) minutes: \(campaigns.map(\.name).joined(separator: ", "))")
        let start = ContinuousClock.now
        try Scheduler(campaigns, settings, tally).run()
        let minutes = (ContinuousClock.now - start) / .seconds(60)
        print(
            settings.isJSON
                ? tally.json(minutes: minutes, seed: settings.seed)
                : tally.summary(minutes: minutes, campaigns: campaigns.map(\.name)))
        return tally.failureCount == 0 ? 0 : 1
    }
}
