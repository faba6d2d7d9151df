/// One kind of harm. A round does some of it to stores of its own, and leaves nothing behind unless something failed.
protocol Campaign: Sendable {
    var name: String { get }
    /// How much of the time it gets, compared with others.
    var weight: Double { get }
    /// Why it cannot be run here; nil if it can.
    var obstacle: String? { get }
    func run(_ round: Round) throws
}

extension Campaign {
    var obstacle: String? { nil }
}

enum Campaigns {
    static func all(_ settings: CoordinatorSettings) -> [any Campaign] {
        [
            WritingCampaign(.kills), WritingCampaign(.clock), WritingCampaign(.limits), WritingCampaign(.disk),
            WritingCampaign(.faults(library: settings.faultLibrary)), BatchCampaign(.mutations), PlacesCampaign(),
            BatchCampaign(.hostile), BatchCampaign(.forgeries), BatchCampaign(.visibility),
        ]
    }
}
