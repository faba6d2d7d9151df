/// Many inputs in one child after another. One that traps or hangs costs that child; the next one goes on behind it.
struct BatchCampaign: Campaign {
    enum Kind: String, Sendable {
        case mutations, hostile, forgeries, visibility
    }

    let kind: Kind
    var canary = ""
    var count: Int

    init(_ kind: Kind, count: Int? = nil, canary: String = "") {
        self.kind = kind
        self.count = count ?? 1_000_000
        self.canary = canary
    }

    var name: String { kind.rawValue }
    var weight: Double { [.mutations: 5, .hostile: 3, .forgeries: 1, .visibility: 3][kind] ?? 1 }
    /// Longer than anything takes that is not stuck, on a machine that does other things too.
    private var patienceSeconds: Double { canary == "hang" ? 10 : 30 }

    func run(_ round: Round) throws {
        var settings = BatchSettings(round, count: count)
        settings.canary = canary
        // Where every input breaks the child, going on shows nothing new.
        for _ in 0..<4 where settings.count > 0 {
            let child = try round.start([kind.rawValue] + settings.words)
            guard case .broken(let place?) = round.follow(child, patienceSeconds: patienceSeconds) else { return }
            settings.count -= place + 1 - settings.first
            settings.first = place + 1
        }
    }
}
