import ModelComparison
import ReferenceModel
import StrataModel
import TestSupport
import Testing

@testable import StrataStore

@Suite("The store does what the plain model of its rules does")
struct StoreModelTests {
    static let stepCount = 60

    @Test("Whatever is asked, results, states and feeds agree", arguments: TwinStore.Ground.allCases)
    func agreement(ground: TwinStore.Ground) throws {
        var lostAnswers = 0
        try withSeeds(40) { seed in
            var twin = try TwinStore(ground, seed: seed)
            for step in 1...Self.stepCount {
                try twin.step()
                if step % 17 == 0 { try twin.reopen() }
                if step % 29 == 0 { try twin.crash() }
            }
            try twin.compareFeeds()
            try twin.checkAudits()
            try twin.reopen()
            lostAnswers += twin.lostAnswers
            try twin.store.close()
        }
        #expect((lostAnswers > 0) == (ground == .hostile))
    }

    @Test("Whatever is granted and whoever asks, no one reads or writes more than the model lets them")
    func roles() throws {
        try withSeeds(40) { seed in
            var twin = try TwinStore(seed % 2 == 0 ? .memory : .segmented, seed: seed, hasRoles: true)
            for step in 1...Self.stepCount {
                try twin.step()
                if step % 10 == 0 { try twin.compareReading() }
                if step % 23 == 0 { try twin.reopen() }
                if step % 37 == 0 { try twin.compact() }
            }
            try twin.store.close()
        }
    }

    @Test(
        "Whatever is shared, no member sees, finds, follows or writes more than the model allows",
        arguments: TwinStore.Ground.allCases)
    func shares(ground: TwinStore.Ground) throws {
        try withSeeds(40) { seed in
            var twin = try TwinStore(ground, seed: seed, hasShares: true)
            for step in 1...Self.stepCount {
                try twin.step()
                if step % 5 == 0, ground != .hostile { try twin.followShares() }
                if step % 17 == 0 { try twin.reopen() }
                if step % 29 == 0 { try twin.crash() }
                if step % 37 == 0 { try twin.compact() }
            }
            try twin.store.close()
        }
    }

    /// Seeds that show what few seeds show. Others would too, but it takes minutes to come to them.
    private static let tellingSeeds: [ReferenceStore.Mutation: UInt64] = [
        .cascadedChildHoldsParent: 38, .defaultZoneMayGo: 5, .deletedSubscriptionIsInTheWay: 46,
        .encryptedFitsPlainKey: 8, .failedParentSuffices: 10, .firstSaveDoesNotBindInRequest: 18,
        .insertsOverExisting: 6, .integerStaysInteger: 4, .longTokenAccepted: 18, .missingZoneMayBeDeleted: 22,
        .plainFitsEncryptedKey: 8, .publicRecordWritableByOthers: 6, .quotaHoldsForSmaller: 32, .quotaIgnored: 16,
        .releasedOwnersCount: 7, .removedKeyStays: 7, .requestOneByteMore: 6, .resetEndsPlainZones: 6,
        .resetSparesZones: 26, .resetZoneHasNoMark: 26, .signedOutMayWrite: 7, .silentQueryAccepted: 5,
        .statusResetsQuota: 56, .subscriptionsGoWithTheirZone: 10, .subscriptionsOfDefaultZone: 17,
        .tokenKeptWhereNothingChanged: 8, .touchGoesTwoLevels: 10, .typeMayChange: 24,
        .unchangedSubscriptionIsWritten: 5, .userRecordMadeOverSaved: 4, .userRecordMayGo: 4,
        .userRecordOfAnyType: 11, .usersMayBeWatched: 39, .zonesInEveryDatabase: 5,
    ]

    /// Each rule broken in the model is noticed within so many seeds, or the comparison compares nothing.
    @Test("Canary: a broken rule is noticed", arguments: ReferenceStore.Mutation.allCases)
    func canary(mutation: ReferenceStore.Mutation) throws {
        if let seed = Self.tellingSeeds[mutation], try diverges(mutation, seed) { return }
        for seed in 1...60 as ClosedRange<UInt64> where try diverges(mutation, seed) { return }
        Issue.record("\(mutation) goes unnoticed")
    }

    private func diverges(_ mutation: ReferenceStore.Mutation, _ seed: UInt64) throws -> Bool {
        var twin = try TwinStore(
            .memory, seed: seed, mutation: mutation, hasRoles: mutation.needsRoles, hasShares: mutation.needsShares)
        defer { try? twin.store.close() }
        do {
            for _ in 1...Self.stepCount { try twin.step() }
            try twin.compareFeeds()
        } catch is Divergence { return true }
        return false
    }
}
