import CloudKit

// Each of these lines is an error: what stands beside it.

func makeWhatOnlyTheStoreMakes() {
    _ = CKDatabase()  // expected-error {{X}}
    _ = CKContainer()  // expected-error {{X}}
    _ = CKServerChangeToken()  // expected-error {{X}}
    _ = CKQueryOperation.Cursor()  // expected-error {{X}}
    _ = CKSubscription()  // expected-error {{X}}
    _ = CKNotification()  // expected-error {{X}}
    _ = CKNotification.ID()  // expected-error {{X}}
    _ = CKRecord()  // expected-error {{X}}
    _ = CKQuery()  // expected-error {{X}}
    _ = CKAsset()  // expected-error {{X}}
    _ = CKRecordZone()  // expected-error {{X}}
    _ = CKQuerySubscription()  // expected-error {{X}}
    _ = CKRecordZoneSubscription()  // expected-error {{X}}
    _ = CKLocationSortDescriptor()  // expected-error {{X}}
    _ = CKDatabase.DatabaseChange.Modification(zoneID: .default)  // expected-error {{X}}
}

class OwnRecord: CKRecord {}  // expected-error {{X}}
class OwnDatabase: CKDatabase {}  // expected-error {{X}}
class OwnContainer: CKContainer {}  // expected-error {{X}}
class OwnZone: CKRecordZone {}  // expected-error {{X}}
class OwnSubscription: CKSubscription {}  // expected-error {{X}}
class OwnNotification: CKNotification {}  // expected-error {{X}}
class OwnOperation: CKOperation {}  // expected-error {{X}}
class OwnDatabaseOperation: CKDatabaseOperation {}  // expected-error {{X}}
class OwnQueryOperation: CKQueryOperation {}  // expected-error {{X}}

func changeWhatStays(_ record: CKRecord, _ query: CKQuery, _ id: CKRecord.ID) {
    record.recordChangeTag = "x"  // expected-error {{X}}
    query.recordType = "x"  // expected-error {{X}}
    id.recordName = "x"  // expected-error {{X}}
}
