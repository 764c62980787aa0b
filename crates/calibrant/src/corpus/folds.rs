#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("x")]
pub struct FoldError;
pub struct Folds { count: usize, assignment: Vec<u8> }
impl Folds { pub fn count(&self)->usize{self.count} pub fn of(&self,d:usize)->usize{self.assignment[d] as usize} pub fn assignment(&self)->&[u8]{&self.assignment}
pub fn stratified(keys:&[u128],_l:&[Vec<u32>],_c:usize,k:usize,_s:u64)->Result<Folds,FoldError>{Ok(Folds{count:k,assignment:keys.iter().map(|x|(x%k as u128) as u8).collect()})}}
