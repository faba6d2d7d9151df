import Glibc

/// Faults that are put in on purpose: each has to be noticed, or nothing that the campaigns say is worth anything.
struct Canaries {
    private let settings: CoordinatorSettings

    init(_ settings: CoordinatorSettings) { self.settings = settings }

    private struct Canary {
        var text: String
        var campaign: any Campaign
        var failure: Tally.Failure
        var attempts = 1
    }

    private static var all: [Canary] {
        [
            Canary(
                text: "a child that acknowledges before it saves", campaign: WritingCampaign(.kills, fault: .early),
                failure: .lost, attempts: 10),
            Canary(
                text: "acknowledged requests that the store never saw",
                campaign: WritingCampaign(.kills, fault: .forged), failure: .lost, attempts: 3),
            Canary(
                text: "records other than what was acknowledged",
                campaign: BatchCampaign(.mutations, count: 8, canary: "falsified"), failure: .lost),
            Canary(
                text: "an input that traps", campaign: BatchCampaign(.hostile, count: 60, canary: "trap"),
                failure: .traps),
            Canary(
                text: "an input that hangs", campaign: BatchCampaign(.hostile, count: 60, canary: "hang"),
                failure: .hangs),
            Canary(
                text: "forgeries whose seals nobody checks",
                campaign: BatchCampaign(.forgeries, count: 12, canary: "unsealed"), failure: .wrong),
            Canary(
                text: "a rule by which those who left stay members",
                campaign: BatchCampaign(.visibility, count: 12, canary: "staying"), failure: .wrong),
            Canary(
                text: "devices that overlook what is gone from a feed",
                campaign: BatchCampaign(.visibility, count: 90, canary: "overlooking"), failure: .wrong,
                attempts: 10),
            Canary(
                text: "an answer that a committed save failed",
                campaign: BatchCampaign(.visibility, count: 12, canary: "misanswering"), failure: .wrong),
        ]
    }

    func run() throws -> Int32 {
        var missed = 0
        for canary in Self.all {
            var isNoticed = false
            for attempt in 0..<canary.attempts where !isNoticed {
                let tally = Tally(isQuiet: true)
                let round = try Round(
                    "canary-\(canary.campaign.name)", attempt, runSeed: settings.seed, tally, in: settings.work)
                try canary.campaign.run(round)
                isNoticed = tally[canary.failure] > 0
                round.remove()
            }
            print("\(canary.text): \(isNoticed ? "noticed" : "NOT NOTICED")")
            if !isNoticed { missed += 1 }
        }
        return missed == 0 ? 0 : 1
    }
}
