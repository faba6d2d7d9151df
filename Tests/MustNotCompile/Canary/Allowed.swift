import CloudKit

// This line is no error, and the check has to say so.
func makeWhatEverybodyMakes() {
    _ = CKRecord(recordType: "Note")  // expected-error {{is inaccessible}}
}
