import FuzzBodies
import FuzzDriver

fuzz(FuzzBodies.segment)
