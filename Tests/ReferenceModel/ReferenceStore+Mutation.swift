extension ReferenceStore {
    /// A rule of docs/rules.md that the store breaks, so that tests can show that they would notice.
    package enum Mutation: String, Sendable, CaseIterable {
        // §2: the whole request.
        case signedOutMayWrite, unavailableMayWrite, pausedIsSignedOut
        case oneItemLess, oneItemMore
        case longTokenAccepted
        case requestOneByteLess, requestOneByteMore
        case duplicateAccepted
        case zonesInEveryDatabase
        case tokenRepeatIsApplied, tokenOfOtherDeviceRepeats, tokenKeptWhereNothingChanged
        // §3 and §4: zones.
        case savedZoneIsWrittenAgain, encryptionScopeMayChange, defaultZoneMayGo, illegalZoneNameAccepted
        case foreignOwnerAccepted, missingZoneMayBeDeleted
        case purgedZoneIsNotFound, resetZoneHasNoMark, resetEndsPlainZones, resetSparesZones
        case recreatedZoneKeepsEnding, recreatedZoneKeepsRecords, recreatedZoneKeepsTokens
        // §5.1 to §5.5: names and rights.
        case illegalTypeAccepted, usersTypeForAnyRecord, userRecordOfAnyType
        case illegalKeyAccepted, sameKeyTwiceAccepted, typeMayChange, illegalNameAccepted
        case publicRecordWritableByOthers
        // §5.6: policies.
        case insertsOverExisting, deletedWithTagCreates, staleTagIgnored, changedKeysChecksTag
        case allKeysRemovesOthers, refusalNamesNoVersions
        // §5.7 to §5.9: values.
        case publicTakesEncrypted, encryptedFitsPlainKey, plainFitsEncryptedKey
        case kindsAreNotBound, integerStaysInteger, fractionIsCut, integralDoubleRefused
        case emptyListBinds, refusedSaveBinds, firstSaveDoesNotBindInRequest
        case referenceToOtherZoneAccepted, longTargetAccepted
        case recordOneByteLess, recordOneByteMore
        case removedKeyStays, keptParentIsLost
        // §5.10 and §5.11: saves together.
        case parentNeedNotExist, parentMustBeStored, failedParentSuffices
        case oneOwnedLess, oneOwnedMore, releasedOwnersCount
        case everyLinkHolds, noNewTargetIsHeld
        // §7: deletes.
        case missingRecordMayNotBeDeleted, publicRecordDeletableByOthers, userRecordMayGo
        case cascadeIgnored, cascadeStopsAfterOneLevel, orphansAllowed, cascadedChildHoldsParent
        case deletesSeeStateBefore, looseReferencesStay
        // §8: atomic zones.
        case atomicIgnored, atomicReachesOtherZones, bystandersGetNoError, defaultZoneIsAtomic
        case everyRequestIsAtomic
        // §9: what is written.
        case firstWriteMakesNoUserRecord, userRecordMadeOverSaved
        case parentIsNotTouched, touchGoesTwoLevels, touchChangesModification, savedParentIsTouched
        case modifiedMayStandStill, creationDateIsKept
        // §11: subscriptions.
        case subscriptionsInEveryDatabase, subscriptionsOfDefaultZone, subscriptionsOfMissingZones
        case silentQueryAccepted, fourDesiredKeysAccepted, usersMayBeWatched
        case sameContentTwiceAccepted, notificationMakesAnother, deletedSubscriptionIsInTheWay
        case unchangedSubscriptionIsWritten, missingSubscriptionMayBeDeleted, subscriptionsGoWithTheirZone
        case subscriptionsAreEverybodys
        // §13: accounts.
        case unchangedAccountIsWritten, statusResetsQuota, addressOfTwoUsers
        case quotaIgnored, quotaHoldsForSmaller
        // §5.5: grants and roles, of which only generators with roles know.
        case everybodyCreates, everybodyIsCreator, unreadableTypeIsWatched, membersStay, rolesHaveNoMembers
        // Shares, of which only generators with shares know.
        case removedMembersStay, readOnlyMayWrite, unseenParentAccepted, strangersAccept, staleListWins
        case membersDeleteRoots, membersChangeLists, sharesOverlap, administratorsGiveMore

        /// True if only a generator with roles shows it.
        package var needsRoles: Bool {
            switch self {
            case .everybodyCreates, .everybodyIsCreator, .unreadableTypeIsWatched, .membersStay, .rolesHaveNoMembers:
                true
            default: false
            }
        }

        /// True if only a generator with shares shows it.
        package var needsShares: Bool {
            switch self {
            case .removedMembersStay, .readOnlyMayWrite, .unseenParentAccepted, .strangersAccept, .staleListWins,
                .membersDeleteRoots, .membersChangeLists, .sharesOverlap, .administratorsGiveMore:
                true
            default: false
            }
        }
    }

    func bends(_ rule: Mutation) -> Bool { mutation == rule }

    /// A limit, of which the store may have one less or one more.
    func limit(_ number: Int, less: Mutation, more: Mutation) -> Int {
        number + (bends(more) ? 1 : 0) - (bends(less) ? 1 : 0)
    }
}
