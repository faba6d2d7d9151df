import StrataModel
import Testing

@testable import CloudKit

@Suite("Errors")
struct ErrorTests {
    @Test("Codes have Apple's numbers")
    func numbers() {
        // In the order of their numbers; 13 is not returned any more.
        let codes: [CKError.Code] = [
            .internalError, .partialFailure, .networkUnavailable, .networkFailure, .badContainer, .serviceUnavailable,
            .requestRateLimited, .missingEntitlement, .notAuthenticated, .permissionFailure, .unknownItem,
            .invalidArguments, .serverRecordChanged, .serverRejectedRequest, .assetFileNotFound, .assetFileModified,
            .incompatibleVersion, .constraintViolation, .operationCancelled, .changeTokenExpired, .batchRequestFailed,
            .zoneBusy, .badDatabase, .quotaExceeded, .zoneNotFound, .limitExceeded, .userDeletedZone,
            .tooManyParticipants, .alreadyShared, .referenceViolation, .managedAccountRestricted,
            .participantMayNeedVerification, .serverResponseLost, .assetNotAvailable, .accountTemporarilyUnavailable,
            .participantAlreadyInvited,
        ]
        #expect(codes.map(\.rawValue) == (1...37).filter { $0 != 13 })
        #expect((1...37).allSatisfy { CKError.Code(rawValue: $0) != nil })
        #expect(CKError.Code(rawValue: 0) == nil && CKError.Code(rawValue: 38) == nil)
        #expect(CKErrorDomain == "CKErrorDomain" && CKError.errorDomain == CKErrorDomain)
    }

    @Test("A thrown error is caught by its code, as a CKError and as an NSError")
    func catching() throws {
        func fail() throws { throw CKError(.unknownItem) }
        do { try fail() } catch CKError.unknownItem {} catch { Issue.record("\(error)") }
        do { try fail() } catch let error as CKError where error.code == .unknownItem {} catch {
            Issue.record("\(error)")
        }
        do { try fail() } catch {
            switch error {
            case CKError.zoneNotFound: Issue.record("another code")
            case CKError.unknownItem: break
            default: Issue.record("no pattern fits")
            }
            let object = error as NSError
            #expect(object.domain == CKErrorDomain && object.code == 11)
            #expect((error as? CKError)?.errorCode == 11)
        }
    }

    @Test("An error that passes says when to try again")
    func retrying() {
        let refusal = Refusal(.serviceUnavailable, "The log's servers elect a leader.", retryAfterSeconds: 2)
        #expect(CKError(refusal).retryAfterSeconds == 2)
        #expect(CKError(Refusal(.serviceUnavailable, "The store is closed.")).retryAfterSeconds == nil)
        #expect(CKError(engine: StrataError(.unreachable, "No server answers.")).retryAfterSeconds == 1)
        let damaged = CKError(engine: StrataError(.viewsDamaged, "The views are being folded again."))
        #expect(damaged.code == .serviceUnavailable && damaged.retryAfterSeconds == 1)
        #expect(CKError(engine: StrataError(.closed, "The store is closed.")).retryAfterSeconds == nil)
    }

    @Test("User info is kept, and its helpers read it")
    func userInfo() throws {
        let server = CKRecord(recordType: "Note")
        let client = CKRecord(recordType: "Note")
        let error = CKError(
            .serverRecordChanged,
            userInfo: [
                CKRecordChangedErrorServerRecordKey: server, CKRecordChangedErrorClientRecordKey: client,
                CKErrorRetryAfterKey: 2.5, NSLocalizedDescriptionKey: "The record changed.",
            ])
        #expect(error.serverRecord === server && error.clientRecord === client && error.ancestorRecord == nil)
        #expect(error.retryAfterSeconds == 2.5)
        #expect(error.localizedDescription == "The record changed.")
        #expect((error as any Error).localizedDescription == "The record changed.")
        #expect(error.errorUserInfo.count == 4)
        #expect((error as NSError).userInfo[CKErrorRetryAfterKey] as? Double == 2.5)
        #expect("\(error)".contains("serverRecordChanged (14)"))
        #expect(CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 3]).retryAfterSeconds == 3)
        #expect(CKError(_nsError: NSError(domain: CKErrorDomain, code: 26)).code == .zoneNotFound)
    }

    @Test("An error made without a message has the platform's text, and any other its message")
    func texts() async throws {
        let plain = "The operation couldn’t be completed. (CKErrorDomain error 36.)"
        for error in [CKError(.zoneBusy), CKError(_nsError: NSError(domain: CKErrorDomain, code: 23))] {
            #expect(error.localizedDescription == plain.replacingOccurrences(of: "36", with: "23"))
        }
        let error = CKError(.accountTemporarilyUnavailable)
        #expect(error.localizedDescription == plain && error.errorDescription == plain)
        #expect((error as NSError).localizedDescription == plain && (error as any Error).localizedDescription == plain)
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        let id = CKRecord.ID(recordName: "\u{1B}[2J", zoneID: CKRecordZone.ID(zoneName: "a\u{7}"))
        do {
            _ = try await database.record(for: id)
            Issue.record("there is no such record")
        } catch {
            let error = try #require(error as? CKError)
            let texts = [
                error.localizedDescription, error.debugDescription, error.description, "\(error)", error.detail,
                error.errorDescription ?? "", (error as NSError).localizedDescription,
                (error as any Error).localizedDescription,
            ]
            #expect(texts.allSatisfy { text in text.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
            #expect(error.localizedDescription.hasPrefix("Error fetching record <CKRecordID: "))
            #expect(Set(texts.filter { !$0.hasPrefix("<CKError") }) == [error.localizedDescription])
            #expect(error.debugDescription.contains(error.localizedDescription))
        }
    }

    @Test("B258: partial errors cast to the three types that clients use")
    func partialErrors() throws {
        let id = CKRecord.ID(recordName: "1")
        let parts: [AnyHashable: any Error] = [
            id: CKError(.unknownItem), CKRecord.ID(recordName: "2"): CKError(.zoneBusy),
        ]
        let error = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: parts])
        #expect(error.partialErrorsByItemID?.count == 2)
        let value = try #require(error.userInfo[CKPartialErrorsByItemIDKey])
        #expect((value as? [NSObject: CKError])?[id]?.code == .unknownItem)
        #expect((value as? [AnyHashable: CKError])?[id]?.code == .unknownItem)
        #expect((value as? [CKRecord.ID: any Error])?[id] is CKError)
        let object: any Error = error
        let again = try #require((object as NSError).userInfo[CKPartialErrorsByItemIDKey])
        #expect((again as? [CKRecord.ID: any Error])?.count == 2)
    }

    @Test("Errors are equal and hash by code and user info")
    func hashing() {
        #expect(CKError(.zoneBusy) == CKError(.zoneBusy))
        #expect(CKError(.zoneBusy) != CKError(.zoneNotFound))
        #expect(Set([CKError(.zoneBusy), CKError(.zoneBusy), CKError(.zoneNotFound)]).count == 2)
    }
}

extension Error {
    /// The message of an error.
    var detail: String { (self as NSError).userInfo[NSLocalizedDescriptionKey] as? String ?? "" }
}
