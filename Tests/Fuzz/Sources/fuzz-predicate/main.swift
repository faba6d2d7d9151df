import FuzzBodies
import FuzzDriver

fuzz(FuzzBodies.predicate)
